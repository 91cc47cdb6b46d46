/// Draws time series as an SVG or PNG chart with axes, legend, thresholds and gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

/// One line of a chart.
struct line {
  std::string name{};                     ///< For the legend, in any script. May have any bytes; see `display_text`.
  std::vector<series::sample> samples{};  ///< In order of time. Samples earlier than their predecessor are ignored.
};

/// A value that a horizontal line marks, such as the limit of a condition.
struct threshold {
  double value = 0;    ///< NaN: not drawn.
  std::string name{};  ///< For its label, before the value. May be empty.
};

/// The contents of a chart.
struct chart {
  std::string title{};
  std::string subtitle{};  ///< Describes the request. May be empty.
  /// "seconds", "bytes", "ratio", "bytes/s", "percent", …; scaled with SI or binary prefixes. Empty: plain numbers.
  std::string unit{};
  series::instant start = 0, end = 0;  ///< The range of the time axis. Samples outside are not drawn.
  /// Two samples more than 1.5 steps apart are not joined. 0: only NaN makes gaps.
  series::duration step = 0;
  std::vector<line> lines{};
  std::vector<threshold> thresholds{};
  std::string zone{};  ///< IANA name of the time axis's zone. Empty: UTC. For unknown names the axis uses UTC and says so.
  /// Draws lines as stacked areas, negative values below zero. A line counts as zero in its gaps.
  bool is_stacked = false;
};

enum class image_format : std::uint8_t { svg, png };

/// The size of an image.
struct image_size {
  unsigned width = 800, height = 400;  ///< In CSS pixels, 200 to 4000 each.
  double scale = 1;                    ///< For PNG: 1 to 4. 2 is for high-density screens.
  bool is_dark = false;
};

/// The maximum number of drawn lines. Those with the least variation are left out. The legend says how many.
inline constexpr std::size_t max_lines = 50;
inline constexpr std::size_t max_thresholds = 8;  ///< The maximum number of drawn thresholds. Others are left out.
/// The maximum number of drawn points of all lines together. Of the samples in one pixel column, only the least and the
/// greatest are drawn. Columns get wider if there are many lines. An SVG is always smaller than 400 KiB.
inline constexpr std::size_t max_points = 24'000;
/// The maximum size of a PNG. Each pixel takes four bytes during drawing.
inline constexpr std::size_t max_pixels = 16'000'000;

/// Draws a chart and returns the bytes of the image. NaN makes a gap, and infinities are drawn at the edge.
/// The first call loads Cairo and Pango. Pango lays out both formats, so they look the same, and Cairo draws the PNG. The SVG
/// is written by this module. Cairo's own has letter outlines, which cannot be read or searched, and surface numbers that
/// differ each time.
/// The SVG holds text as text, a `<title>`, and a `<desc>` with the least, greatest and last value of each line. It has no
/// script and no external reference. On one machine, the same input gives the same bytes.
/// Time and memory: linear in the samples. Threads: any, several at once.
/// Errors: source_unavailable if the libraries or all fonts are missing; the text names the packages. invalid_argument for
/// sizes and times out of range. response_too_large for more than `max_pixels`.
[[nodiscard]] result<std::string> draw(const chart& chart, image_format format, const image_size& size = {});

/// Returns the folders of this host with fonts, their configuration and time zones, for `system_requirements::folders`.
[[nodiscard]] std::vector<std::string> font_folders();

}  // namespace hondana::charts
