/// What the pages of all logs have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/bytes/digest.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"

namespace hondana::git {

inline constexpr std::size_t largest_page = 10'000;
/// As long as a note in a cursor.
inline constexpr std::size_t longest_path = 4096;

[[nodiscard]] inline std::size_t limit_of(const log_request& request) noexcept {
  return std::clamp<std::size_t>(request.limit, 1, largest_page);
}
[[nodiscard]] inline std::size_t budget_of(const log_request& request) noexcept {
  return std::max<std::size_t>(request.budget, 1);
}

/// Of all that decides what a log is: its kind, where it starts and ends, and what it leaves out.
[[nodiscard]] bytes::digest digest_of(const commit_store& store, const log_request& request, std::string_view kind);

}  // namespace hondana::git
