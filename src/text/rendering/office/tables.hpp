/// Tables within running text, one in a cell of another too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {

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
