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
[[nodiscard]] std::string harmless(std::string_view text);

/// Receives elements and text in document order, and builds the output text. Threads: one.
class html_writer {
 public:
  /// Sets the current position in the source, for line mappings.
  void at_source(std::size_t byte, std::size_t line) noexcept;
  /// Appends text that may contain entities and any white space.
  void text(std::string_view raw);
  /// 1: begin a new line; 2: with a blank line before it.
  void break_line(int lines) noexcept;
  void begin_heading(int level, std::string id);
  void end_heading();
  void begin_link(std::string target);
  void end_link();
  void picture(std::string target, std::string_view alternative);
  void begin_raw();
  void end_raw();
  void begin_list();
  void end_list();
  void item();
  void begin_table();
  void end_table();
  void row();
  void cell();

  [[nodiscard]] html_text finish(std::size_t bytes, std::size_t lines);
  /// HTML text on one line, such as a title.
  [[nodiscard]] static std::string line_of(std::string_view raw);

 private:
  struct region {
    part what;
    std::size_t first;  ///< Line in the output, from 0.
    std::size_t last;
    int level;
    std::string heading;
    std::string id;
    std::size_t source_begin;
    std::size_t source_line;
  };
  struct noted_link {
    link what;
    std::size_t text_line;
  };

  void put(std::string_view characters);
  void show(char c);
  void flush();
  void new_line();
  void begin_region(part what);
  void end_region();
  void note(std::string target, std::string text, bool is_picture);
  void make_pieces(html_text& into) const;

  std::string out_{};
  std::size_t byte_ = 0;
  std::size_t line_ = 1;
  std::vector<std::size_t> first_lines_{1};
  std::vector<std::size_t> last_lines_{1};
  bool is_line_empty_ = true;
  bool has_space_ = false;
  int breaks_ = 0;
  std::string prefix_{};
  std::size_t raw_ = 0;
  std::size_t lists_ = 0;
  std::size_t tables_ = 0;
  bool is_in_cell_ = false;
  bool has_cell_ = false;
  bool is_in_heading_ = false;
  bool is_in_region_ = false;
  region region_{};
  std::vector<region> regions_{};
  std::string link_target_{};
  std::size_t link_begin_ = 0;
  bool is_link_open_ = false;
  bool is_link_pending_ = false;  ///< No text of the link has been written yet.
  std::size_t link_line_ = 1;
  std::vector<noted_link> links_{};
};

}  // namespace hondana::markup
