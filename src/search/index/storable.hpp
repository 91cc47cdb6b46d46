/// What every store makes of a document before it keeps it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/chunking/passages.hpp"
#include "search/index/store.hpp"

namespace hondana::search {

/// A document and its passages, with texts that every store can keep: well-formed, and without NUL, which is left out. Where
/// there are no passages, there is the one of the entry, of no lines.
struct storable {
  document of{};
  std::vector<chunking::passage> all{};
};
/// Errors: invalid_argument: a text is malformed UTF-8, the URI is empty or has a NUL, or there are too many passages.
[[nodiscard]] result<storable> storable_of(const document& what, std::span<const chunking::passage> of);
/// The same of the document alone.
[[nodiscard]] result<document> storable_of(const document& what);

/// How roles are kept.
[[nodiscard]] constexpr std::int64_t bit_of(role one) noexcept { return one == role::user ? 1 : 2; }
/// When vectors were used, and for how many hours those that nothing uses any more are kept.
[[nodiscard]] std::int64_t hours_now();
inline constexpr std::int64_t hours_kept_unused = 24;

/// What counts as a document's name: the path of its URI, decoded, and its name.
[[nodiscard]] std::string name_and_path(std::string_view name, std::string_view uri);

}  // namespace hondana::search
