/// The drawing surface of a chart: shapes, pens, text styles, and the color palettes for light and dark charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::charts {

/// CSS pixels from the upper left corner.
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

/// Runs of points; each begins at one of `begins`, the first of which is 0 where there are points.
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
/// Lengths of what is drawn and what is not; none: solid.
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

struct writing {
  charts::font font{};
  colour ink{};
  charts::anchor anchor = charts::anchor::start;
  double width = 0;         ///< As it was measured.
  double room = 0;          ///< What it must never be wider than, with whatever font; 0: does not matter.
  colour halo{0, 0, 0, 0};  ///< Around the letters, so that lines do not run through them; transparent: none.
};

/// Threads: one at a time. Text is plain: nothing in it is interpreted.
class canvas {
 public:
  canvas() = default;
  canvas(const canvas&) = delete;
  canvas& operator=(const canvas&) = delete;
  virtual ~canvas() = default;

  virtual void fill(const box& what, colour with) = 0;
  /// Each run closed.
  virtual void fill(const path& what, colour with) = 0;
  virtual void stroke(const path& what, const pen& with) = 0;
  virtual void dots(const std::vector<point>& at, double radius, colour with) = 0;
  /// `at` is on the line that letters stand on.
  virtual void write(point at, std::string_view text, const writing& how) = 0;
  /// What follows belongs to something of this name, until `end_group`. Not nested.
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
};

/// Text has at least 4.5 : 1 against the background, lines of data 3 : 1. Spec: WCAG 2.1, 1.4.3 and 1.4.11.
struct palette {
  colour background{}, text{}, faint_text{}, grid{}, axis{}, limit{};
};
[[nodiscard]] const palette& palette_of(bool is_dark) noexcept;

inline constexpr std::size_t hues = 7;
/// After those of Okabe and Ito, darker or lighter where the background would swallow them.
[[nodiscard]] colour hue_of(std::size_t line, bool is_dark) noexcept;
/// Every seven lines the dashes change, every 28 the width.
[[nodiscard]] pen pen_of(std::size_t line, bool is_dark) noexcept;
/// Of the area of a stacked line.
[[nodiscard]] colour area_of(std::size_t line, bool is_dark) noexcept;

}  // namespace hondana::charts
