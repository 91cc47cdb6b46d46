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
  std::string title{};    ///< The document's title, if it has one.
  std::string heading{};  ///< The headings above, such as `Guide › Setup › Windows`; for code the names of the declarations;
                          ///< for tables the sheet.
  std::string text{};     ///< Without markup. Not empty.
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
  std::size_t overlap = 200;  ///< Text repeated from the previous passage of the same section, in whole sentences if possible.
  std::size_t max_passages = 20'000;  ///< The rest of the text is not split; `chunked_text::is_complete` is then false.
};

/// The passages of one text.
struct chunked_text {
  std::vector<passage> passages{};  ///< In text order; they cover all bytes except white space and markup.
  bool is_complete = true;
};

/// Splits a text into passages. `text`: UTF-8. `mime_type` and `name` determine its type. Time: linear. Memory: proportional to
/// the passages.
///
/// Splits prose at headings, and code at declarations, which it finds by blank lines, indentation and braces. About forty
/// languages are recognized by file name extension. Splits also at pages; at rows of CSV and other tables, each with its
/// header; and at members of JSON, YAML and TOML. Within these, splits at paragraphs, sentences (`.`, `。`, …), lines and, if
/// necessary, between characters.
[[nodiscard]] chunked_text chunk_text(std::string_view text, std::string_view mime_type, std::string_view name,
                                      const chunking_options& options = {});

}  // namespace hondana::chunking
