/// Reads HTML as text, with its tags, entities and outline.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// Decodes the entity at `position`, where there must be a `&`, and appends its meaning to `out`. Returns its length in bytes;
/// 0: it is not an entity, and nothing was appended.
std::size_t decode_entity(std::string_view text, std::size_t position, std::string& out);

/// Returns the text with all entities decoded.
[[nodiscard]] std::string decode_entities(std::string_view text);

/// A tag of HTML.
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

/// Returns the text without tags and comments; entities stay unchanged.
[[nodiscard]] std::string strip_tags(std::string_view text);

/// The text of an HTML document as Markdown (see `rendered_html`), with its structure.
struct html_text {
  std::string text{};
  /// Pieces of `text`. The first line of a table is its header.
  std::vector<piece> pieces{};
  /// For each line of `text`, the first line of its source, from 1; never decreases.
  std::vector<std::size_t> first_source_lines{};
  /// The same for the last line of its source.
  std::vector<std::size_t> last_source_lines{};
  outline text_outline{};    ///< With positions in `text`.
  outline source_outline{};  ///< With positions in the HTML.
  std::string language{};    ///< From `<html lang>`; empty: unknown.
};

[[nodiscard]] html_text read_html(std::string_view html);
/// Returns `html_text::source_outline`.
[[nodiscard]] outline outline_of_html(std::string_view html);

}  // namespace hondana::markup
