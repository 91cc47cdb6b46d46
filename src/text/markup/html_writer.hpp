/// Lays out the text of HTML as harmless Markdown: breaks, lists, tables and headings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/markup/html.hpp"

namespace hondana::markup {

/// `<` as `&lt;` where a reader of Markdown or HTML could take it for the begin of a tag, and targets such as `javascript:` set
/// off from what would make them links. `<vector>` and `a < b` stay. Lines stay lines.
[[nodiscard]] std::string harmless(std::string_view text);

class html_writer {
 public:
  /// Where the source is read at the moment: what follows stands there.
  void at_source(std::size_t byte, std::size_t line) noexcept;
  /// With entities and any white space.
  void text(std::string_view raw);
  /// 1: a new line; 2: with a blank one between.
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
  /// A text of HTML in one line, as of a title.
  [[nodiscard]] static std::string line_of(std::string_view raw);

 private:
  struct region {
    part what;
    std::size_t first;  ///< The line in the text, from 0.
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
  bool is_link_pending_ = false;  ///< Nothing of its text has been shown yet.
  std::size_t link_line_ = 1;
  std::vector<noted_link> links_{};
};

}  // namespace hondana::markup
