/// Masks secrets in configuration values, and in texts that cannot be parsed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/located/format.hpp"
#include "text/located/node.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::config_files {

/// The values of a file or layer: two trees with the same structure.
struct values {
  located::document raw;     ///< Unmasked. Only for comparisons; must not be sent.
  located::document masked;  ///< With secrets masked; equal to `raw` if masking is off.
  /// The spans of secrets in the source text, ordered and disjoint. They cover everything that is masked in the tree. Empty if
  /// the values were made from two trees.
  std::vector<secrets::span> secret_spans{};
  std::size_t bytes = 0;  ///< Approximate memory use of both.
};
using shared_values = std::shared_ptr<const values>;

/// Makes values from a tree. `text`: the source of the tree. `masks`: whether to mask secrets.
[[nodiscard]] shared_values make_values(located::document raw, std::string_view text, bool masks);
/// Makes values from two existing trees, which must have the same structure.
[[nodiscard]] shared_values make_values(located::document raw, located::document masked);

/// Masks the secrets of a text: those recognized in the text, and `values->secret_spans`. `values`: parsed from exactly this
/// text; null: it could not be parsed. Keeps lengths and line ends. Returns the number of masked places.
std::size_t mask_text(std::string& text, const values* values);

/// Whether two values are equal, regardless of the order of members. `compares_text`: compares strings, numbers and booleans by
/// their spelling, so that 80 equals "80".
[[nodiscard]] bool is_equivalent(const located::node& a, const located::node& b, bool compares_text);

/// Masks everything that may be a value in a text that cannot be parsed: texts after keys, and lines that may continue a value.
/// Also all lines that are not comments, sections, brackets or keys. In doubt, text counts as a value. Keeps indentation, list
/// dashes, line ends and lengths. Returns the number of masked places. Returns nothing, and keeps the text, if it is neither
/// UTF-8 nor UTF-16 with a byte order mark. Time: linear.
[[nodiscard]] std::optional<std::size_t> mask_values(std::string& text, located::config_format format);

}  // namespace hondana::config_files
