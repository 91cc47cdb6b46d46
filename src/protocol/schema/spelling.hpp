/// How values, types and limits are spelled in messages, and in comparisons.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/value.hpp>

namespace hondana::schema {

/// A value for a message, cut when it is long.
[[nodiscard]] std::string spelled(const value& what);
[[nodiscard]] std::string spelled(long double number);
/// "a string or an array".
[[nodiscard]] std::string types_text(std::uint8_t types);
/// Whether a value has one of the types of a node.
[[nodiscard]] bool has_type(std::uint8_t types, const value& what);
/// Equal values, and no others, give equal texts: 1 and 1.0 are equal, and so are members in another order.
[[nodiscard]] std::string canonical(const value& what);

}  // namespace hondana::schema
