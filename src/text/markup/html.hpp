/// Reads HTML as text, with its tags, entities and outline.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// Decodes the character reference at `position`, where there must be a `&`, and appends its meaning to `out`. It must end with
/// `;`, as in Markdown. Returns its length in bytes; 0: it is not a character reference, and nothing was appended.
std::size_t decode_entity(std::string_view text, std::size_t position, std::string& out);

/// A tag of HTML, as Markdown reads it.
struct html_tag {
  std::string name{};  ///< In lower case.
  bool is_end = false;
  bool is_self_closed = false;  ///< Ends with `/>`.
  std::size_t end = 0;          ///< The position after its `>`.
  /// At most 64 attributes, names in lower case, values decoded. Further ones are skipped.
  std::vector<std::pair<std::string, std::string>> attributes{};

  /// Returns the value of an attribute (name in lower case); null if there is none.
  [[nodiscard]] const std::string* find(std::string_view attribute) const noexcept;
};

/// Reads the tag at `position`, where there must be a `<`. Returns false if it is not a tag, or does not end within 64 KiB.
[[nodiscard]] bool read_tag(std::string_view text, std::size_t position, html_tag& out);

/// The text of an HTML document as Markdown (see `rendered_html`), with its structure.
struct html_text {
  std::string text{};
  /// Pieces of `text`. The first line of a table is its header.
  std::vector<piece> pieces{};
  /// For each line of `text`, the first line of its source, from 1; never decreases.
  std::vector<std::size_t> first_source_lines{};
  /// The same for the last line of its source.
  std::vector<std::size_t> last_source_lines{};
  outline text_outline{};     ///< With positions in `text`.
  std::string description{};  ///< From `<meta name="description">`, on one line; empty: none.
  outline source_outline{};   ///< With positions in the HTML.
  std::string language{};     ///< From `<html lang>`; empty: unknown.
  bool is_truncated = false;  ///< The text is that of the beginning of the HTML only, which is too large.
};

[[nodiscard]] html_text read_html(std::string_view html);
/// Returns all text of HTML, also that of hidden elements, scripts and comments. Elements inside words do not divide them.
[[nodiscard]] std::string all_text_of_html(std::string_view html);
/// Returns `html_text::source_outline`.
[[nodiscard]] outline outline_of_html(std::string_view html);

}  // namespace hondana::markup
