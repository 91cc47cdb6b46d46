/// Names and values as forms and queries carry them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::oauth {

using fields = std::vector<std::pair<std::string, std::string>>;

/// `application/x-www-form-urlencoded`, which is right for queries, too: blanks become `%20`.
[[nodiscard]] std::string spelled(const fields& of);

inline constexpr std::size_t longest_query = 16u << 10;
inline constexpr std::size_t most_query_fields = 100;

/// Errors: broken_protocol for broken escapes, control characters, a name that stands there twice and what is beyond the limits
/// above. It repeats nothing of it.
[[nodiscard]] result<fields> read_query(std::string_view query);

/// Null when there is none of that name.
[[nodiscard]] const std::string* find(const fields& in, std::string_view name) noexcept;

}  // namespace hondana::oauth
