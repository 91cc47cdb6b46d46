/// The outline of a document in any format: headings, links and title.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::markup {

/// The markup language of a text. `plain`: prose without markup.
enum class markup_format : std::uint8_t { plain, markdown, asciidoc, restructured_text, html };

/// Determines the format by media type, or by file name ("guide.adoc") if the type is empty or general. No value: not prose.
[[nodiscard]] std::optional<markup_format> detect_format(std::string_view mime_type, std::string_view name) noexcept;

/// A heading and everything below it, up to the next heading of the same or a higher level.
struct section {
  int level = 1;          ///< 1 (the title) to 6.
  std::string heading{};  ///< As people read it, without markup.
  /// Unique in the document: derived from the heading like on GitHub (Japanese letters stay), or set by the document.
  std::string id{};
  std::size_t first_line = 1;  ///< From 1; the line of the heading.
  std::size_t last_line = 1;   ///< Included.
  std::size_t begin = 0;       ///< In bytes.
  std::size_t end = 0;         ///< In bytes, not included.
};

/// A reference, as written in the text.
struct link {
  std::string target{};  ///< A URI reference, decoded from the markup but not resolved: `../guide.md#setup`.
  std::string text{};    ///< As people read it, without markup.
  std::size_t line = 1;  ///< From 1.
  bool is_image = false;
};

/// The structure of a text. At most 10 000 sections and 10 000 links; `is_truncated` if there are more.
struct outline {
  std::string title{};              ///< From the front matter or the first heading; empty: none.
  std::vector<section> sections{};  ///< In text order; without headings in code blocks, comments and front matter.
  std::vector<link> links{};
  std::size_t front_matter_end = 0;  ///< Bytes of the front matter before the text (see `find_front_matter`). 0: none.
  bool is_truncated = false;
};

/// Returns the outline of a UTF-8 text. Anything that it cannot parse is text. Time: linear.
[[nodiscard]] outline outline_of(markup_format format, std::string_view text);

/// HTML as Markdown for people. Leaves out scripts, styles, templates and hidden elements. Headings become `## …`, lists use
/// dashes, table rows use ` | `, preformatted text stays unchanged, and entities are decoded. The result never contains markup
/// that a reader could execute.
struct rendered_html {
  std::string text{};
  markup::outline outline{};                ///< Outline of `text`.
  std::vector<std::size_t> source_lines{};  ///< For each line of `text`, the source line in which it begins, from 1.
  std::string language{};                   ///< From `<html lang>`; empty: unknown.
  bool is_truncated = false;                ///< The text is that of the beginning of the HTML only, which is too large.
};
/// Converts HTML. Never fails. Time: linear.
[[nodiscard]] rendered_html render_html(std::string_view html);

}  // namespace hondana::markup
