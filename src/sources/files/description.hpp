/// Titles and descriptions of files, taken from their first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::files {

/// The title and summary of a file; empty if it has none. Valid UTF-8 without control characters.
struct description {
  std::string title;    ///< Of Markdown and reStructuredText: `title:` in the front matter, or the first heading.
  std::string summary;  ///< The first paragraph, module docstring or leading comment; at most 200 characters.

  bool operator==(const description&) const = default;
};

/// Describes a file of a media type by its front: its first 4096 bytes, or all of it if `is_complete`.
///
/// Time: linear. Never fails: a file that is not text, or has no usable text, gets an empty description.
[[nodiscard]] description describe(std::string_view mime_type, std::string_view front, bool is_complete);

/// Whether `describe` may find anything in files of this type.
[[nodiscard]] bool is_describable(std::string_view mime_type) noexcept;

// Helpers of `describe`.

[[nodiscard]] description describe_markdown(std::string_view text);
/// `has_titles`: a paragraph followed by a line of one repeated mark is a title, as in reStructuredText.
[[nodiscard]] description describe_plain(std::string_view text, bool has_titles);
/// The first paragraph of the docstring that a Python module begins with; empty if there is none.
[[nodiscard]] std::string extract_docstring(std::string_view text);

/// The comment syntax of a language.
struct comment_style {
  std::string_view line;         ///< "//"; empty: none.
  std::string_view other_line;   ///< An alternative, such as ";" to "#"; empty: none.
  std::string_view block_begin;  ///< "/*"; empty: none.
  std::string_view block_end;
};
/// The first paragraph of the comments at the beginning that is about the file; empty if there is none.
[[nodiscard]] std::string leading_comment(std::string_view text, const comment_style& style);

/// Makes one line of a text: white space is collapsed and control characters are removed. A text of more than `max_code_points`
/// code points is cut after a word and ends in `…`.
[[nodiscard]] std::string to_single_line(std::string_view text, std::size_t max_code_points = 200);

/// Whether a paragraph is about copyright and licence, and not about the file.
[[nodiscard]] bool is_boilerplate(std::string_view paragraph);

/// Removes the first line from `text` and returns it without its LF or CR LF.
[[nodiscard]] std::string_view pop_line(std::string_view& text);
/// The text without white space at either end.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

}  // namespace hondana::files
