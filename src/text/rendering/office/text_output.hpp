/// The Markdown output of Office files: paragraphs, lists and tables, up to a limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::rendering {

/// Collects Markdown blocks, separated by empty lines. Drops further text when `max_bytes` bytes are reached.
class text_output {
 public:
  explicit text_output(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  /// Adds a heading, unless it is blank. `level`: from 1; levels above 6 become 6.
  void heading(std::size_t level, std::string_view text);
  /// Adds a paragraph, unless it is blank. Keeps its lines, and escapes a beginning that would make it a heading.
  void paragraph(std::string_view text);
  /// Adds an item of a list, unless it is blank. `level`: from 0.
  void item(std::size_t level, bool is_numbered, std::string_view text);
  /// Adds a row of a table. `is_first`: a header row, followed by a delimiter line. Pads to at least `columns` cells.
  void row(const std::vector<std::string>& cells, bool is_first, std::size_t columns = 0);
  /// Adds blocks that are Markdown already.
  void blocks(std::string_view text);
  /// Marks the end of a page or slide.
  void end_page();

  /// Clears the output and sets another limit.
  void reset(std::size_t max_bytes) { *this = text_output(max_bytes); }
  /// The limit in bytes.
  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }
  /// Whether further text is dropped.
  [[nodiscard]] bool is_full() const noexcept { return is_truncated_; }
  /// Marks the output as truncated; drops everything added later.
  void truncate() noexcept { is_truncated_ = true; }
  /// Marks the output as incomplete, but accepts further text.
  void mark_incomplete() noexcept { is_incomplete_ = true; }
  /// Whether text is missing.
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_ || is_incomplete_; }
  [[nodiscard]] std::string extract() && { return std::move(text_); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  enum class block { none, paragraph, item, row };
  /// Adds a block; cuts it if it does not fit.
  void add(block kind, std::string_view text);

  std::size_t max_bytes_;
  std::string text_;
  block last_ = block::none;
  bool is_truncated_ = false;
  bool is_incomplete_ = false;
};

/// Returns the text without white space at both ends, including ideographic spaces.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;
/// Returns the text on one line: trimmed, with line breaks and tabs as spaces, and without repeated spaces.
[[nodiscard]] std::string to_single_line(std::string_view text);

/// The open tables of a document. A table inside a cell becomes text of that cell.
class tables {
 public:
  [[nodiscard]] bool is_open() const noexcept { return !open_.empty(); }
  /// Opens a table.
  void begin() { open_.emplace_back(); }
  void begin_row();
  void begin_cell();
  /// Adds a paragraph to the current cell.
  void add(std::string_view text);
  /// Ends the current cell. `span`: the number of columns of the cell.
  void end_cell(std::size_t span = 1);
  /// Ends the current row. Writes it to `out`, unless it is empty or not visible. Rows of an inner table go to the outer cell.
  void end_row(text_output& out, bool is_visible = true);
  /// Closes the innermost table.
  void end();

 private:
  struct table {
    std::vector<std::string> cells;
    std::string cell;
    bool has_header = false;
  };
  std::vector<table> open_;
  bool is_incomplete_ = false;  // cells were left out
};

}  // namespace hondana::rendering
