/// Splits texts into passages for the index, by type and file name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::chunking {

/// A part of a text. Lines and bytes refer to the whole text, so that clients can read the passage there (`?lines=`,
/// `?bytes=`).
struct passage {
  std::string title{};  ///< The document's title, if it has one.
  /// The headings above, such as `Guide › Setup › Windows`; for code and JSON, the names of declarations or members.
  std::string heading{};
  /// Not empty. Prose keeps its inline markup, except for HTML; headings have none. Table rows follow the table's header.
  std::string text{};
  std::size_t first_line = 1;  ///< From 1.
  std::size_t last_line = 1;   ///< Included.
  std::uint64_t begin = 0;     ///< In bytes.
  std::uint64_t end = 0;       ///< In bytes, not included.
  std::size_t page = 0;        ///< Page of a PDF (form feeds separate pages), from 1; 0: the text has no pages.
};

/// How to split a text. Sizes are bytes of UTF-8.
struct chunking_options {
  std::size_t target_bytes = 1200;  ///< Approximate size of a passage.
  std::size_t max_bytes = 2400;     ///< Maximum size of a passage, even for longer lines.
  std::size_t overlap = 200;  ///< Limit of text repeated from the previous passage of the same section, in whole sentences.
  std::size_t max_passages = 20'000;  ///< The text beyond them is left out.
};

/// The passages of one text.
struct chunked_text {
  std::vector<passage> passages{};  ///< In text order; they cover all bytes except white space and markup.
  bool is_complete = true;          ///< False: there were more than `max_passages` passages.
};

/// Splits a text into passages. `text`: UTF-8. `mime_type` and `name` (a file name or path) determine its type. Time: linear.
/// Memory: proportional to the passages.
///
/// Splits prose at headings and pages. Splits code at declarations, which it finds by blank lines, indentation and braces, in
/// about forty languages. Splits CSV and other tables at rows; JSON, YAML and TOML at members. Within these, splits at
/// paragraphs, sentences (`.`, `。`, …), lines and, if necessary, between characters.
[[nodiscard]] chunked_text chunk_text(std::string_view text, std::string_view mime_type, std::string_view name,
                                      const chunking_options& options = {});

}  // namespace hondana::chunking
