/// Cursors: opaque texts that say where the next page of a list starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/seal/seal.hpp"

namespace hondana::catalog {

/// The longest key, in bytes. A key is the URI or name after which the next page starts. A percent-encoded path of PATH_MAX
/// bytes fits.
inline constexpr std::size_t max_key_bytes = 16 * 1024;

/// A number that identifies a list, so that cursors of other lists are rejected. `list`: its name. `filter`: its filter as
/// text; empty: none. `access_filter`: that of the caller; null: none.
[[nodiscard]] std::uint64_t cursor_scope(std::string_view list, std::string_view filter, const access_filter* access_filter);

/// Returns a cursor that continues after `last_key`: 1 to `max_key_bytes` bytes, without spaces and control characters.
/// `sealer` encrypts the key and prevents forgery. Null: clients can read the key and forge cursors.
[[nodiscard]] std::string write_cursor(std::uint64_t scope, std::string_view last_key, const seal::sealer* sealer = nullptr);
/// Returns the key of a cursor that was made by `write_cursor` with the same `scope` and `sealer`. Errors: invalid_argument for
/// any other text, including the empty one. The error text starts with `cursor:`.
[[nodiscard]] result<std::string> read_cursor(std::string_view cursor, std::uint64_t scope,
                                              const seal::sealer* sealer = nullptr);

}  // namespace hondana::catalog
