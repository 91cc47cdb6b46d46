/// Whether colours can be told apart.
#include "sources/metrics/charts/canvas.hpp"

#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace hondana::charts {
namespace {

using three = std::array<double, 3>;

three linear(rgba c) {
  const auto one = [](double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); };
  return {one(c.red / 255.0), one(c.green / 255.0), one(c.blue / 255.0)};
}

double contrast(rgba a, rgba b) {
  const auto light = [](rgba c) {
    const auto part = linear(c);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2] + 0.05;
  };
  return std::max(light(a), light(b)) / std::min(light(a), light(b));
}

/// As people see it who lack one kind of cone. Source: Machado, Oliveira and Fernandes, 2009, severity 1.
three as_seen(rgba c, const std::array<three, 3>& by) {
  const auto part = linear(c);
  three out{};
  for (std::size_t at = 0; at < 3; ++at) {
    out[at] = std::max(0.0, by[at][0] * part[0] + by[at][1] * part[1] + by[at][2] * part[2]);
  }
  return out;
}

/// Of CIELAB, where 2.3 is what can just be told apart side by side.
double distance(const three& a, const three& b) {
  const auto lab = [](const three& c) {
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505);
    const double y = f(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
    const double z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
    return three{116 * y - 16, 500 * (x - y), 200 * (y - z)};
  };
  const auto p = lab(a);
  const auto q = lab(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

constexpr std::array<three, 3> all_cones{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<three, 3> no_red{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr std::array<three, 3> no_green{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};

TEST(palette, stands_out_from_the_background) {
  for (const bool is_dark : {false, true}) {
    const auto& colours = palette_of(is_dark);
    EXPECT_GE(contrast(colours.text, colours.background), 7);
    EXPECT_GE(contrast(colours.faint_text, colours.background), 4.5);
    EXPECT_GE(contrast(colours.limit, colours.background), 4.5);
    for (std::size_t at = 0; at < hue_count; ++at)
      EXPECT_GE(contrast(line_color(at, is_dark), colours.background), 3) << at << is_dark;
  }
}

TEST(palette, is_told_apart_by_eyes_that_lack_red_or_green) {
  for (const bool is_dark : {false, true}) {
    for (const auto& eyes : {all_cones, no_red, no_green}) {
      for (std::size_t a = 0; a < hue_count; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          EXPECT_GE(distance(as_seen(line_color(a, is_dark), eyes), as_seen(line_color(b, is_dark), eyes)), 10)
              << a << b << is_dark;
        }
      }
    }
  }
}

TEST(palette, has_a_pen_of_its_own_for_each_of_fifty_lines) {
  std::set<std::tuple<int, int, int, int, double>> pens;
  for (std::size_t at = 0; at < 50; ++at) {
    const auto one = line_pen(at, false);
    pens.emplace(one.color.red, one.color.green, one.color.blue, static_cast<int>(one.pattern), one.width);
  }
  EXPECT_EQ(pens.size(), 50U);
}

}  // namespace
}  // namespace hondana::charts
