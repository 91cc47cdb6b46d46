/// Lays out the text of HTML as harmless Markdown: line breaks, lists, tables and headings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/markup/html.hpp"

namespace hondana::markup {

/// Escapes `<` as `&lt;` where a Markdown or HTML reader could see a tag. Changes link targets such as `javascript:` so that
/// they are not links. `<vector>` and `a < b` stay unchanged. Keeps the number of lines.
[[nodiscard]] std::string escape_unsafe_markup(std::string_view text);

/// Receives elements and text in document order, and builds the output text. Ends without a begin are ignored. Threads: one.
class html_writer {
 public:
  /// Sets the current position in the HTML, for `html_text`. `line`: from 1.
  void set_source_position(std::size_t offset, std::size_t line) noexcept;
  /// Appends text with any white space, in which character references are decoded. `last_line`: the last line of the text in
  /// the HTML.
  void add_text(std::string_view text, std::size_t last_line);
  /// Appends a mark, without the space before it that is still to be written.
  void add_mark(std::string_view mark);
  /// Begins a new line with the next text. `lines`: 1; 2: with a blank line before it.
  void break_line(int lines) noexcept;
  /// `id`: from the HTML; empty: none.
  void begin_heading(int level, std::string id);
  void end_heading();
  void begin_link(std::string target);
  void end_link();
  /// Adds a link that is not in the text.
  void add_link(std::string target, std::string_view text);
  /// `alternative`: the text for the image; may be empty.
  void add_image(std::string target, std::string_view alternative);
  void begin_preformatted();
  void end_preformatted();
  /// Begins a new line with a marker such as `- ` or `2. `. In headings and cells, only numbers are shown. `indentation`: in
  /// columns.
  void begin_item(std::size_t indentation, std::string_view marker);
  void begin_table();
  void end_table();
  void begin_row();
  /// `column`: from 0, and increasing in the row.
  void begin_cell(std::size_t column);
  void end_row();

  /// Ends the text and returns it. Call once. `bytes`, `lines`: the size of the HTML.
  [[nodiscard]] html_text finish(std::size_t bytes, std::size_t lines);
  /// Returns text on one line, such as a title, cut to `max_heading_bytes`.
  [[nodiscard]] static std::string to_single_line(std::string_view text);

 private:
  struct region {
    piece_kind kind;
    std::size_t first;  ///< Line in the output, from 0.
    std::size_t last;
    int level;
    std::string heading;
    std::string id;
    std::size_t source_begin;
    std::size_t source_line;
  };
  struct recorded_link {
    link value;
    std::size_t text_line;
  };

  void write(std::string_view characters);
  void write_character(char c);
  void flush();
  void new_line();
  void begin_region(piece_kind kind);
  void end_region();
  void record_link(std::string target, std::string text, bool is_image);
  void make_pieces(html_text& out) const;

  std::string output_{};
  std::size_t source_offset_ = 0;
  std::size_t source_line_ = 1;
  std::vector<std::size_t> first_lines_{1};
  std::vector<std::size_t> last_lines_{1};
  bool is_line_empty_ = true;
  bool has_space_ = false;
  int pending_breaks_ = 0;
  std::string prefix_{};
  std::size_t preformatted_depth_ = 0;
  bool is_in_cell_ = false;
  std::size_t column_ = 0;
  bool has_row_text_ = false;
  bool is_in_heading_ = false;
  bool is_in_region_ = false;
  region region_{};
  std::vector<region> regions_{};
  std::string link_target_{};
  std::size_t link_begin_ = 0;
  bool is_link_open_ = false;
  bool is_link_pending_ = false;  ///< No text of the link has been written yet.
  std::size_t link_line_ = 1;
  std::vector<recorded_link> links_{};
};

}  // namespace hondana::markup
