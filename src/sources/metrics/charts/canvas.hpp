/// The drawing surface of a chart: shapes, pens, text styles, and the color palettes for light and dark charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::charts {

/// In CSS pixels from the upper left corner.
struct point {
  double x = 0, y = 0;
};

struct box {
  double x = 0, y = 0, width = 0, height = 0;

  [[nodiscard]] double right() const noexcept { return x + width; }
  [[nodiscard]] double bottom() const noexcept { return y + height; }
};

struct rgba {
  std::uint8_t red = 0, green = 0, blue = 0;
  double alpha = 1;

  [[nodiscard]] constexpr rgba with_alpha(double opacity) const noexcept { return {red, green, blue, opacity}; }
};

/// A sequence of polylines. Each starts at an index of `starts`, whose first is 0 if there are points.
struct path {
  std::vector<point> points{};
  std::vector<std::size_t> starts{};

  void move_to(point position) {
    starts.push_back(points.size());
    points.push_back(position);
  }
  void line_to(point position) { points.push_back(position); }
};

enum class dash : std::uint8_t { solid, long_dashes, dots, dash_dot };
/// Lengths of alternating dashes and gaps. Empty: solid.
[[nodiscard]] const std::vector<double>& dash_lengths(dash pattern);

struct pen {
  rgba color{};
  double width = 1;
  dash pattern = dash::solid;
};

enum class anchor : std::uint8_t { start, middle, end };

struct font {
  double size = 12;  ///< CSS pixels.
  bool is_bold = false;
};

/// How to draw a text.
struct text_style {
  charts::font font{};
  rgba color{};
  charts::anchor anchor = charts::anchor::start;
  double width = 0;       ///< Measured width.
  double max_width = 0;   ///< In any font. 0: unlimited.
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
  virtual void stroke(const path& path, const pen& pen) = 0;
  virtual void dots(const std::vector<point>& centers, double radius, rgba color) = 0;
  /// `position` is on the baseline of the text.
  virtual void write(point position, std::string_view text, const text_style& style) = 0;
  /// Groups the following shapes under a name, until `end_group`. Groups cannot be nested.
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
};

/// Contrast against the background: at least 4.5:1 for text and 3:1 for data lines. Spec: WCAG 2.1, 1.4.3 and 1.4.11.
struct palette {
  rgba background{}, text{}, faint_text{}, grid{}, axis{}, limit{};
};
[[nodiscard]] const palette& palette_of(bool is_dark) noexcept;

inline constexpr std::size_t hue_count = 7;
/// Colors derived from the Okabe-Ito palette, darker or lighter where needed for contrast with the background.
[[nodiscard]] rgba line_color(std::size_t line, bool is_dark) noexcept;
/// The dash pattern changes after every 7 lines, the width after every 28.
[[nodiscard]] pen line_pen(std::size_t line, bool is_dark) noexcept;
/// The fill color of a stacked line.
[[nodiscard]] rgba area_color(std::size_t line, bool is_dark) noexcept;

}  // namespace hondana::charts
