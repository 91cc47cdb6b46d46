/// The drawing surface of a chart: shapes, pens, text styles, and the color palettes for light and dark charts.
#include "sources/metrics/charts/canvas.hpp"

#include <array>

namespace hondana::charts {

const std::vector<double>& dash_lengths(dash pattern) {
  static const std::array<std::vector<double>, 4> patterns{{{}, {7, 3}, {2, 2.5}, {8, 2.5, 2, 2.5}}};
  return patterns[static_cast<std::size_t>(pattern)];
}

namespace {

constexpr palette light{{255, 255, 255}, {28, 32, 38}, {96, 103, 112}, {232, 235, 239}, {150, 157, 166}, {176, 28, 46}};
constexpr palette dark{{22, 25, 31}, {232, 235, 240}, {160, 168, 178}, {46, 51, 60}, {110, 118, 129}, {255, 123, 114}};

constexpr std::array<rgba, hue_count> light_hues{
    {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {190, 90, 145}, {120, 70, 20}, {58, 152, 214}, {70, 74, 80}}};
constexpr std::array<rgba, hue_count> dark_hues{
    {{86, 180, 233}, {230, 159, 0}, {0, 178, 130}, {222, 140, 186}, {240, 228, 66}, {235, 108, 20}, {228, 232, 224}}};

}  // namespace

const palette& palette_of(bool is_dark) noexcept { return is_dark ? dark : light; }

rgba line_color(std::size_t line, bool is_dark) noexcept { return (is_dark ? dark_hues : light_hues)[line % hue_count]; }

pen line_pen(std::size_t line, bool is_dark) noexcept {
  return {line_color(line, is_dark), line / hue_count < 4 ? 1.6 : 2.6, static_cast<dash>(line / hue_count % 4)};
}

rgba area_color(std::size_t line, bool is_dark) noexcept {
  return line_color(line, is_dark).with_alpha(line / hue_count % 2 == 0 ? 0.62 : 0.34);
}

}  // namespace hondana::charts
