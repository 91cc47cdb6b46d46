/// The Markdown output of Office files: paragraphs, lists and tables, up to a limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::rendering {

/// Blocks of Markdown, with an empty line between two. Beyond `most` bytes nothing is added.
class text_output {
 public:
  explicit text_output(std::size_t most) noexcept : most_(most) {}

  /// `level` from 1; beyond 6 it is 6.
  void heading(std::size_t level, std::string_view text);
  /// Nothing where there is only white space. Its lines stay; what would make it a heading is escaped.
  void paragraph(std::string_view text);
  /// `level` from 0.
  void item(std::size_t level, bool is_numbered, std::string_view text);
  /// A row of a table; `is_first`: with the line below it that makes it a header. At least `columns` wide.
  void row(const std::vector<std::string>& cells, bool is_first, std::size_t columns = 0);
  /// Blocks that are written already.
  void blocks(std::string_view text);
  /// The end of a page or slide.
  void page_end();

  /// Empty again.
  void reset(std::size_t most) { *this = text_output(most); }
  /// How many bytes it may have.
  [[nodiscard]] std::size_t room() const noexcept { return most_; }
  [[nodiscard]] bool is_full() const noexcept { return is_cut_; }
  /// There was more.
  void cut() noexcept { is_cut_ = true; }
  /// Something was left out, and what follows still comes.
  void leave_out() noexcept { is_less_ = true; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_ || is_less_; }
  [[nodiscard]] std::string take() && { return std::move(text_); }
  [[nodiscard]] const std::string& so_far() const noexcept { return text_; }

 private:
  enum class block { none, paragraph, item, row };
  /// Whether it fits, whole or cut.
  void add(block what, std::string_view text);

  std::size_t most_;
  std::string text_;
  block last_ = block::none;
  bool is_cut_ = false;
  bool is_less_ = false;
};

/// Without white space at both ends, which also the ideographic space is.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// On one line: breaks and tabs are spaces.
[[nodiscard]] std::string on_one_line(std::string_view text);

/// Tables that have begun and not ended. A table in a cell becomes text of that cell.
class tables {
 public:
  [[nodiscard]] bool are_open() const noexcept { return !open_.empty(); }
  void begin() { open_.emplace_back(); }
  void begin_row();
  void begin_cell();
  /// One paragraph of the cell that has begun.
  void add(std::string_view text);
  /// `span`: how many columns it takes.
  void end_cell(std::size_t span = 1);
  void end_row(text_output& to, bool is_shown = true);
  void end();

 private:
  struct table {
    std::vector<std::string> cells;
    std::string cell;
    bool has_header = false;
  };
  std::vector<table> open_;
  bool is_less_ = false;  // cells were left out
};

}  // namespace hondana::rendering
