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

struct colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  double alpha = 1;

  [[nodiscard]] constexpr colour at(double opacity) const noexcept { return {red, green, blue, opacity}; }
};

/// A sequence of polylines. Each starts at an index of `begins`, whose first is 0 if there are points.
struct path {
  std::vector<point> points{};
  std::vector<std::size_t> begins{};

  void begin(point at) {
    begins.push_back(points.size());
    points.push_back(at);
  }
  void go(point to) { points.push_back(to); }
};

enum class dash : std::uint8_t { solid, long_ones, dots, dash_dot };
/// Lengths of alternating dashes and gaps. Empty: solid.
[[nodiscard]] const std::vector<double>& lengths_of(dash pattern);

struct pen {
  colour ink{};
  double width = 1;
  dash pattern = dash::solid;
};

enum class anchor : std::uint8_t { start, middle, end };

struct font {
  double size = 12;  ///< CSS pixels.
  bool is_bold = false;
};

/// How to draw a text.
struct writing {
  charts::font font{};
  colour ink{};
  charts::anchor anchor = charts::anchor::start;
  double width = 0;         ///< Measured width.
  double room = 0;          ///< Maximum width, in any font. 0: unlimited.
  colour halo{0, 0, 0, 0};  ///< Outline around the letters that keeps lines from crossing them. Transparent: none.
};

/// A surface to draw on. Threads: one at a time. Texts are plain, not markup.
class canvas {
 public:
  canvas() = default;
  canvas(const canvas&) = delete;
  canvas& operator=(const canvas&) = delete;
  virtual ~canvas() = default;

  virtual void fill(const box& what, colour with) = 0;
  /// Closes and fills each polyline.
  virtual void fill(const path& what, colour with) = 0;
  virtual void stroke(const path& what, const pen& with) = 0;
  virtual void dots(const std::vector<point>& at, double radius, colour with) = 0;
  /// `at` is on the baseline of the text.
  virtual void write(point at, std::string_view text, const writing& how) = 0;
  /// Groups the following shapes under a name, until `end_group`. Groups cannot be nested.
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
};

/// Contrast against the background: at least 4.5:1 for text and 3:1 for data lines. Spec: WCAG 2.1, 1.4.3 and 1.4.11.
struct palette {
  colour background{}, text{}, faint_text{}, grid{}, axis{}, limit{};
};
[[nodiscard]] const palette& palette_of(bool is_dark) noexcept;

inline constexpr std::size_t hues = 7;
/// Colors derived from the Okabe-Ito palette, darker or lighter where needed for contrast with the background.
[[nodiscard]] colour hue_of(std::size_t line, bool is_dark) noexcept;
/// The dash pattern changes after every 7 lines, the width after every 28.
[[nodiscard]] pen pen_of(std::size_t line, bool is_dark) noexcept;
/// The fill color of a stacked line.
[[nodiscard]] colour area_of(std::size_t line, bool is_dark) noexcept;

}  // namespace hondana::charts
