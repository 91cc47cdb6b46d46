/// The outline of a document in any format: headings, links and title.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::markup {

/// How a text is marked up.
enum class format : std::uint8_t { plain, markdown, asciidoc, restructured_text, html };

/// By media type, and where that says too little by the name of the file ("guide.adoc"). Nothing: it is no prose.
[[nodiscard]] std::optional<format> format_of(std::string_view mime_type, std::string_view name) noexcept;

/// A heading with all that stands under it, up to the next heading of its level or a higher one.
struct section {
  int level = 1;          ///< 1: the title, to 6.
  std::string heading{};  ///< As people read it, without marks.
  /// Unique in the document; as GitHub makes it of the heading (Japanese stays), or as the document says itself.
  std::string id{};
  std::size_t first_line = 1;  ///< From 1; that of the heading.
  std::size_t last_line = 1;   ///< Included.
  std::size_t begin = 0;       ///< In bytes.
  std::size_t end = 0;         ///< Not included.
};

/// A reference to something else, as it is written.
struct link {
  std::string target{};  ///< A URI reference, decoded as the markup has it, but not resolved: `../guide.md#setup`.
  std::string text{};
  std::size_t line = 1;
  bool is_picture = false;
};

/// At most 10 000 sections and 10 000 links; beyond that `is_cut`.
struct outline {
  std::string title{};              ///< Of the front matter or the first heading; empty: none.
  std::vector<section> sections{};  ///< In the order of the text; headings in code blocks, comments and front matter are none.
  std::vector<link> links{};
  std::size_t front_matter_end = 0;  ///< Where the text begins after its front matter (YAML between `---`), in bytes.
  bool is_cut = false;
};

/// Never fails: what it cannot make sense of is text. Time: linear. `text`: UTF-8.
[[nodiscard]] outline outline_of(format how, std::string_view text);

/// HTML as people read it: scripts, styles, templates and hidden elements left out, headings as Markdown writes them (`## …`),
/// lists with dashes, tables as rows with ` | `, preformatted text as it is; entities decoded; never any markup that a reader
/// could run.
struct rendered {
  std::string text{};
  markup::outline outline{};                ///< Of `text`.
  std::vector<std::size_t> source_lines{};  ///< For each line of `text` the line of the source where it begins, from 1.
  std::string language{};                   ///< `<html lang>`; empty: it does not say.
};
[[nodiscard]] rendered text_of_html(std::string_view html);

}  // namespace hondana::markup
