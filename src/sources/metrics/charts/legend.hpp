/// The legend of a chart, which fits names into columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {

/// Names of lines in columns. If they are long, the labels common to all names become `…`. Names that are still too long are
/// shortened in the middle. The last entry counts the names that do not fit and the omitted lines. Sizes are in CSS pixels.
class legend {
 public:
  static constexpr double row_height = 17;

  /// `names`: results of `display_text`, in the order of the drawn lines. `omitted`: number of lines that are not drawn.
  /// Without names or rows, the legend is empty.
  legend(const typesetter& typesetter, std::vector<std::string> names, std::size_t omitted, double width, std::size_t max_rows);

  /// Returns the height; 0 if the legend is empty.
  [[nodiscard]] double height() const noexcept { return static_cast<double>(rows_) * row_height; }
  /// Draws the legend. `position`: its upper left corner.
  void draw(canvas& canvas, point position, bool is_stacked, bool is_dark) const;

 private:
  struct entry {
    std::string text{};
    double width = 0;      ///< Of the text.
    point position{};      ///< Relative to the corner of the legend.
    bool is_note = false;  ///< The entry that counts names, not a line.
  };

  double max_text_width_ = 0;
  std::size_t rows_ = 0;
  std::vector<entry> entries_{};
};

}  // namespace hondana::charts
