/// Titles and descriptions of files, taken from their first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::files {

/// What a file says about itself; empty where it says nothing. Well-formed UTF-8 without control characters.
struct description {
  std::string title;    ///< Of Markdown and reStructuredText: `title:` of the front matter, or the first heading.
  std::string summary;  ///< The first paragraph, module docstring or leading comment; at most 200 characters.

  bool operator==(const description&) const = default;
};

/// Reads the front of a file (its first 4096 bytes or all of it, as `is_whole` says) of a media type.
///
/// Time: linear. Never fails: what is no text, or says nothing, has an empty description.
[[nodiscard]] description describe(std::string_view mime_type, std::string_view front, bool is_whole);

/// Whether `describe` could say anything about files of this type.
[[nodiscard]] bool is_describable(std::string_view mime_type) noexcept;

// The parts of `describe`.

[[nodiscard]] description describe_markdown(std::string_view text);
[[nodiscard]] description describe_plain(std::string_view text, bool has_titles);
[[nodiscard]] std::string docstring_of(std::string_view text);

/// How comments are written.
struct comment_style {
  std::string_view line;         ///< "//"; empty: none.
  std::string_view other_line;   ///< ";" beside "#"; empty: none.
  std::string_view block_begin;  ///< "/*"; empty: none.
  std::string_view block_end;
};
[[nodiscard]] std::string leading_comment(std::string_view text, const comment_style& style);

/// One line of people's text: white space collapsed, control characters dropped, cut after a word and ended with `…` where it
/// has more than `limit` code points.
[[nodiscard]] std::string tidied(std::string_view text, std::size_t limit = 200);

/// Whether a paragraph is about copyright and licence rather than about the file.
[[nodiscard]] bool is_boilerplate(std::string_view paragraph);

/// Takes the first line off `rest`, without its LF or CR LF.
[[nodiscard]] std::string_view take_line(std::string_view& rest);
/// Without white space at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

}  // namespace hondana::files
