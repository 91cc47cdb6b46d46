/// Numbers as JSON writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/located/node.hpp"

namespace hondana::located {

/// The shortest text that reads back equal, with a point or an exponent, so that it stays no integer. It must be finite.
[[nodiscard]] std::string real_text(double number);

/// A number written as JSON has it. An integer keeps its digits; a real is written in its shortest form, or stays as it is
/// where no double is as large. Nothing when it is not written so.
[[nodiscard]] std::optional<node> json_number(std::string_view written, place at);

/// What a plain scalar of YAML means by the core schema. Source: yaml.org/spec/1.2.2, section 10.3.2.
enum class scalar_doubt : std::uint8_t { none, unwritable, too_large };
struct plain_scalar {
  node what;
  scalar_doubt doubt = scalar_doubt::none;  ///< Why it is a text though the schema has it as a number.
};
[[nodiscard]] plain_scalar resolve_plain(std::string_view written, place at);

}  // namespace hondana::located
