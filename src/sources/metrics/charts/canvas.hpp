/// The drawing surface of a chart: shapes, pens, text styles, and the color palettes for light and dark charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::charts {

/// A position in CSS pixels from the upper left corner.
struct point {
  double x = 0, y = 0;
};

/// A rectangle in CSS pixels; `x` and `y` are its upper left corner.
struct box {
  double x = 0, y = 0, width = 0, height = 0;

  [[nodiscard]] double right() const noexcept { return x + width; }
  [[nodiscard]] double bottom() const noexcept { return y + height; }
};

/// A color.
struct rgba {
  std::uint8_t red = 0, green = 0, blue = 0;
  double alpha = 1;  ///< 0: transparent. 1: opaque.

  [[nodiscard]] constexpr rgba with_alpha(double opacity) const noexcept { return {red, green, blue, opacity}; }
};

/// A sequence of polylines.
struct path {
  std::vector<point> points{};
  std::vector<std::size_t> starts{};  ///< Indexes in `points` where a polyline begins. The first one is 0.

  /// Begins a polyline. Must be called before `line_to`.
  void move_to(point position) {
    starts.push_back(points.size());
    points.push_back(position);
  }
  void line_to(point position) { points.push_back(position); }
};

enum class dash : std::uint8_t { solid, long_dashes, dots, dash_dot };
/// Returns the lengths of alternating dashes and gaps in CSS pixels. Empty: solid.
[[nodiscard]] const std::vector<double>& dash_lengths(dash pattern);

/// How to draw a line.
struct pen {
  rgba color{};
  double width = 1;  ///< CSS pixels.
  dash pattern = dash::solid;
};

/// The part of a text that is at the position where it is written.
enum class anchor : std::uint8_t { start, middle, end };

/// A font of `font_families`.
struct font {
  double size = 12;  ///< CSS pixels.
  bool is_bold = false;
};

/// How to draw a text.
struct text_style {
  charts::font font{};
  rgba color{};
  charts::anchor anchor = charts::anchor::start;
  double width = 0;       ///< Width of the text in CSS pixels: the result of `typesetter::width_of`.
  double max_width = 0;   ///< The text must not be wider, even if the reader of an SVG has other fonts. 0: unlimited.
  rgba halo{0, 0, 0, 0};  ///< Outline around the letters that keeps lines from crossing them. Transparent: none.
};

/// A surface to draw on. Threads: one at a time. Texts are plain, not markup.
class canvas {
 public:
  canvas() = default;
  canvas(const canvas&) = delete;
  canvas& operator=(const canvas&) = delete;
  virtual ~canvas() = default;

  virtual void fill(const box& box, rgba color) = 0;
  /// Closes and fills each polyline.
  virtual void fill(const path& path, rgba color) = 0;
  /// Draws each polyline.
  virtual void stroke(const path& path, const pen& pen) = 0;
  /// Draws filled circles.
  virtual void dots(const std::vector<point>& centers, double radius, rgba color) = 0;
  /// Writes a text. `position`: on its baseline; see `anchor`.
  virtual void write(point position, std::string_view text, const text_style& style) = 0;
  /// Groups the following shapes under a name, until `end_group`. Groups cannot be nested.
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
};

/// The colors of a chart except those of its lines. Texts have a contrast of at least 4.5:1 against the background.
/// Spec: WCAG 2.1, 1.4.3.
struct palette {
  rgba background{}, text{}, faint_text{}, grid{}, axis{}, limit{};  ///< `limit`: of thresholds.
};
[[nodiscard]] const palette& palette_of(bool is_dark) noexcept;

/// The number of different colors of lines.
inline constexpr std::size_t hue_count = 7;
/// Returns the color of the line with the index `line`, from the Okabe-Ito palette. Some colors are changed so that the
/// contrast against the background is at least 3:1. Spec: WCAG 2.1, 1.4.11.
[[nodiscard]] rgba line_color(std::size_t line, bool is_dark) noexcept;
/// Returns the pen of a line. The dash pattern changes after every 7 lines, the width after 28.
[[nodiscard]] pen line_pen(std::size_t line, bool is_dark) noexcept;
/// Returns the fill color of a line in a stack.
[[nodiscard]] rgba area_color(std::size_t line, bool is_dark) noexcept;

}  // namespace hondana::charts
