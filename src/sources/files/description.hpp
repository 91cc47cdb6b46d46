/// Titles and descriptions of files, taken from their first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::files {

/// The title and summary of a file, each empty if it has none. One line of at most 200 code points, without control characters.
struct description {
  /// Only of Markdown, reStructuredText and HTML: the first heading. `title:` in the front matter of Markdown and `<title>`
  /// have precedence.
  std::string title;
  /// The first paragraph, module docstring or leading comment. `description:` in the front matter of Markdown and
  /// `<meta name="description">` have precedence.
  std::string summary;

  bool operator==(const description&) const = default;
};

/// Describes a file by its media type and its first bytes. `is_complete`: `front` is the whole file; otherwise its last,
/// possibly cut line is ignored.
///
/// Time: linear. Never fails: a file that is not text, or has no usable text, gets an empty description.
[[nodiscard]] description describe(std::string_view mime_type, std::string_view front, bool is_complete);

/// Whether `describe` may find anything in files of this type.
[[nodiscard]] bool is_describable(std::string_view mime_type) noexcept;

// Helpers of `describe`.

[[nodiscard]] description describe_markdown(std::string_view text);
/// Describes a plain text. `has_titles`: a paragraph followed by a line of one repeated mark is a title, as in
/// reStructuredText.
[[nodiscard]] description describe_plain(std::string_view text, bool has_titles);
/// Describes HTML, without its comments.
[[nodiscard]] description describe_html(std::string_view text);
/// The first paragraph of the docstring that a Python module begins with; empty if there is none.
[[nodiscard]] std::string extract_docstring(std::string_view text);

/// The comment syntax of a language.
struct comment_style {
  std::string_view line;         ///< Begins a comment that ends with the line: "//"; empty: none.
  std::string_view other_line;   ///< An alternative to `line`, such as ";" to "#"; empty: none.
  std::string_view block_begin;  ///< "/*"; empty: none.
  std::string_view block_end;    ///< "*/"
};
/// The first paragraph in the comments at the beginning of `text` that is not boilerplate; empty if there is none.
[[nodiscard]] std::string leading_comment(std::string_view text, const comment_style& style);

/// Makes one line of a text: white space is collapsed and control characters are removed. A text of more than `max_code_points`
/// code points is cut after a word and ends in `…`.
[[nodiscard]] std::string to_single_line(std::string_view text, std::size_t max_code_points = 200);

/// Whether a paragraph is about copyright or a licence, and not about the file.
[[nodiscard]] bool is_boilerplate(std::string_view paragraph);

/// Removes the first line, including its LF, from `text`, and returns it without LF or CR LF.
[[nodiscard]] std::string_view pop_line(std::string_view& text);
/// The text without white space at either end.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

}  // namespace hondana::files
