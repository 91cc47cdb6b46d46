/// Beginnings of object ids.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

inline constexpr std::size_t shortest_abbreviation = 4;

/// Whether it could be an id or the beginning of one: 4 to 40 hexadecimal digits.
[[nodiscard]] bool is_abbreviation(std::string_view text) noexcept;

/// Ids that begin with these digits, in their order, and no more than `most`. Errors: source_unavailable.
[[nodiscard]] result<std::vector<git_oid>> ids_beginning(git_odb* in, std::string_view digits, std::size_t most);

}  // namespace hondana::git
