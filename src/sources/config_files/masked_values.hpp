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

/// The values of a file: two trees with the same structure.
struct values {
  located::document raw;     ///< Unmasked. Only for comparisons; never sent.
  located::document masked;  ///< With secrets masked.
  /// The spans of secrets in the original text, ordered and disjoint. Covers everything that is masked in the tree.
  std::vector<secrets::span> secret_spans{};
  std::size_t bytes = 0;  ///< Approximate memory use of both.
};
using shared_values = std::shared_ptr<const values>;

/// `text`: the source of the tree.
[[nodiscard]] shared_values make_values(located::document raw, std::string_view text, bool masks);
/// From two existing trees.
[[nodiscard]] shared_values make_values(located::document raw, located::document masked);

/// Masks the secrets of a text: those that the text shows, and those masked in its tree (null: it could not be parsed). Lengths
/// and line ends stay. Returns how many there were.
std::size_t mask_text(std::string& text, const values* values);

/// Whether two values are equal, regardless of the order of members. `compares_text`: compares numbers and booleans by their
/// spelling, since one side has strings only.
[[nodiscard]] bool is_equivalent(const located::node& a, const located::node& b, bool compares_text);

/// Masks everything that may be a value: the text after a key, and lines that may continue a value. Also all lines that are not
/// comments, sections, brackets or keys. In doubt, text is not a key, and is masked. Indentation, list dashes, line ends and
/// lengths stay. Returns how many places were masked. Empty, with the text unchanged, if the text is neither UTF-8 nor UTF-16
/// with a byte order mark. Linear time.
[[nodiscard]] std::optional<std::size_t> mask_values(std::string& text, located::config_format format);

}  // namespace hondana::config_files
