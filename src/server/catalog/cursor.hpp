/// Cursors: where the next page starts, bound to the list and the view it was cut from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/seal/seal.hpp"

namespace hondana::catalog {

/// The longest key a cursor carries, in bytes; room for every byte of a path of PATH_MAX percent-encoded.
inline constexpr std::size_t max_key_bytes = 16 * 1024;

/// What a cursor belongs to, as a number: the list's name, its filter and the view it is seen through (null: everything).
[[nodiscard]] std::uint64_t cursor_scope(std::string_view list, std::string_view filter, const view* through);

/// A cursor that continues after `last_key` (1 to `max_key_bytes` bytes). With `by` nobody else can read the key, which may be
/// one that the caller's view hides.
[[nodiscard]] std::string write_cursor(std::uint64_t scope, std::string_view last_key, const seal::sealer* by = nullptr);
/// The key of a cursor that `write_cursor` made for this scope, with or without `by`.
/// Errors: invalid_argument for everything else, also the empty string; the text starts with `cursor:`.
[[nodiscard]] result<std::string> read_cursor(std::string_view cursor, std::uint64_t scope, const seal::sealer* by = nullptr);

}  // namespace hondana::catalog
