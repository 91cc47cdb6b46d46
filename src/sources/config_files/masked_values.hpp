/// Configuration values with secrets masked, also of texts that cannot be parsed.
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

/// Two trees of one shape, members and items in the same places.
struct values {
  located::document raw;    ///< Only to be compared; nothing of it is sent.
  located::document shown;  ///< Its secrets are asterisks.
  /// Where secrets are in the text it was read from, in order and apart: no less than is masked in the tree.
  std::vector<secrets::span> in_text{};
  std::size_t bytes = 0;  ///< About how much memory both take.
};
using shared_values = std::shared_ptr<const values>;

/// `text`: what the tree was read from.
[[nodiscard]] shared_values values_of(located::document raw, std::string_view text, bool masks);
/// Of two trees that have been made already.
[[nodiscard]] shared_values values_of(located::document raw, located::document shown);

/// Masks the secrets of a text: those it gives away itself, and whatever its tree was masked for (null: it could not be read).
/// Lengths and line ends stay. Returns how many there were.
std::size_t mask_text(std::string& text, const values* known);

/// Whether two values say the same, whatever the order of members. `as_texts`: numbers and truths are compared as they are
/// written, since one side knows texts only.
[[nodiscard]] bool says_the_same(const located::node& a, const located::node& b, bool as_texts);

/// Writes asterisks over all that may be a value: over what stands behind a key, and over lines that are no comments, sections,
/// brackets or keys, or that may go on with the value of a line before. Where it is not certain that something is a key, it is
/// masked. Indentation, dashes of lists, ends of lines and lengths stay. Returns how many places were masked; nothing for a
/// text that is neither UTF-8 nor UTF-16 with a mark of its order, which stays as it is. Time: linear.
[[nodiscard]] std::optional<std::size_t> mask_values(std::string& text, located::format how);

}  // namespace hondana::config_files
