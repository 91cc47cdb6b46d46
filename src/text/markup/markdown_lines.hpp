/// What a line of Markdown begins, apart from what is around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::markup {

/// A place within a line, in bytes and in columns; tabs reach to the next column that four divides.
class line_cursor {
 public:
  /// `text`: of one line.
  explicit line_cursor(std::string_view text) noexcept : text_(text) {}

  /// Columns of white space from here on.
  [[nodiscard]] std::size_t indent() const noexcept;
  /// Passes so many columns of white space, or what there is of it.
  void skip_columns(std::size_t columns) noexcept;
  void skip(std::size_t bytes) noexcept;
  [[nodiscard]] std::string_view rest() const noexcept { return text_.substr(at_); }
  /// Without its indentation.
  [[nodiscard]] std::string_view content() const noexcept;
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t column_ = 0;
  std::size_t left_of_tab_ = 0;  ///< Columns of the tab before `at_` that are not passed yet.
};

// All of these take a line without its indentation.

/// 1 to 6: of `## Heading ##`, whose text is in `heading` then. 0: it is none.
[[nodiscard]] int atx_level(std::string_view content, std::string_view& heading) noexcept;
/// 1 or 2: the line underlines a heading. 0: it does not.
[[nodiscard]] int underline_level(std::string_view content) noexcept;
[[nodiscard]] bool is_rule(std::string_view content) noexcept;
/// How many ticks or tildes open a block of code; 0: none do.
[[nodiscard]] std::size_t fence_length(std::string_view content) noexcept;
[[nodiscard]] bool closes_fence(std::string_view content, char mark, std::size_t length) noexcept;
/// Bytes of the mark of a list item, without the space behind; 0: it is none. `is_first`: a bullet, or the number 1.
[[nodiscard]] std::size_t item_mark(std::string_view content, bool& is_first) noexcept;
/// `| --- | :-: |`.
[[nodiscard]] bool is_table_rule(std::string_view content) noexcept;

/// Blocks of HTML, as CommonMark 4.6 counts them; `none` is 0.
enum class html_block : std::uint8_t { none, raw, comment, instruction, declaration, cdata, element, other };
[[nodiscard]] html_block html_block_of(std::string_view content);
[[nodiscard]] bool ends_html_block(html_block what, std::string_view line);

/// Takes `{#id .class}` off the end of a heading. Empty: there is none.
[[nodiscard]] std::string take_attributes(std::string_view& heading);

}  // namespace hondana::markup
