/// Cursors: where the next page starts, bound to the list and to the access filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/seal/seal.hpp"

namespace hondana::catalog {

/// The longest key of a cursor, in bytes: a percent-encoded path of PATH_MAX.
inline constexpr std::size_t max_key_bytes = 16 * 1024;

/// Identifies the list that a cursor belongs to: its name, its filter, and the access filter (null: none).
[[nodiscard]] std::uint64_t cursor_scope(std::string_view list, std::string_view filter, const access_filter* access_filter);

/// A cursor that continues after `last_key` (1 to `max_key_bytes` bytes). With `sealer`, the key is encrypted, because the
/// caller may not be allowed to see it.
[[nodiscard]] std::string write_cursor(std::uint64_t scope, std::string_view last_key, const seal::sealer* sealer = nullptr);
/// The key of a cursor that `write_cursor` made for this scope, with the same `sealer`. Errors: invalid_argument for any other
/// text, including the empty one. The error text starts with `cursor:`.
[[nodiscard]] result<std::string> read_cursor(std::string_view cursor, std::uint64_t scope,
                                              const seal::sealer* sealer = nullptr);

}  // namespace hondana::catalog
