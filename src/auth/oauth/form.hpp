/// Encodes and parses the names and values of forms and queries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::oauth {

using fields = std::vector<std::pair<std::string, std::string>>;

/// Encodes as `application/x-www-form-urlencoded`. A blank becomes `%20`, so that the result is also a valid query.
[[nodiscard]] std::string encode_form(const fields& form);

inline constexpr std::size_t max_query_bytes = 16u << 10;
inline constexpr std::size_t max_query_fields = 100;

/// Parses a query without its `?`. Errors: protocol_error for malformed escapes, control characters, a repeated name, and more
/// than `max_query_bytes` or `max_query_fields`. The error text contains nothing of the query.
[[nodiscard]] result<fields> read_query(std::string_view query);

/// Returns the value of a name; null if it is missing.
[[nodiscard]] const std::string* find(const fields& form, std::string_view name) noexcept;

}  // namespace hondana::oauth
