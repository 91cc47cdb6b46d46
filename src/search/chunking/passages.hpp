/// Splits texts into passages for the index, by type and file name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::chunking {

/// A part of a text. Lines and bytes are of the whole text, so that it can be read there (`?lines=`, `?bytes=`).
struct passage {
  std::string title{};    ///< Of the document, where it says one.
  std::string heading{};  ///< The headings above, `Guide › Setup › Windows`; for code the name of what is declared; for tables
                          ///< the sheet.
  std::string text{};     ///< Without marks that nobody searches for. Not empty.
  std::size_t first_line = 1;  ///< From 1.
  std::size_t last_line = 1;   ///< Included.
  std::uint64_t begin = 0;     ///< In bytes,
  std::uint64_t end = 0;       ///< not included.
  std::size_t page = 0;        ///< Of a PDF (pages are separated by form feeds), from 1; 0: there are none.
};

/// How a text is cut. Bytes of UTF-8.
struct cutting {
  std::size_t wanted = 1200;  ///< A passage has about as many bytes,
  std::size_t most = 2400;    ///< and never more, however long a line is.
  std::size_t overlap = 200;  ///< With the passage before it in the same section, to whole sentences where that is possible.
  std::size_t most_passages = 20'000;  ///< What is beyond is not cut; `cut::is_whole` is false then.
};

struct cut {
  std::vector<passage>
      passages{};  ///< In the order of the text; every byte that is not white space or markup is in at least one.
  bool is_whole = true;
};

/// Cuts at headings of prose, at declarations of code (blank lines, indentation and braces tell where; about forty languages by
/// their names' endings), at pages, at rows of CSV and of tables, each with its header, at members of JSON, YAML and TOML; and
/// within these at paragraphs, sentences (`.`, `。`, …), lines and, where nothing else helps, characters, never inside one.
///
/// `text`: UTF-8. `mime_type` and `name` tell what it is. Time: linear; memory: the passages.
[[nodiscard]] cut passages_of(std::string_view text, std::string_view mime_type, std::string_view name,
                              const cutting& how = {});

}  // namespace hondana::chunking
