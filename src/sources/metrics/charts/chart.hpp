/// Draws time series as an SVG or PNG chart with axes, legend, thresholds and gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

struct line {
  std::string name{};  ///< For the legend; any script. What is no text is shown as pictures, what is invisible is dropped.
  std::vector<series::sample> samples{};  ///< In the order of their instants; those before their predecessors are left out.
};

/// A level to mark across the chart: `above` or `below`.
struct threshold {
  double at = 0;
  std::string name{};
};

struct chart {
  std::string title{};
  std::string subtitle{};  ///< What was asked for; may be empty.
  std::string unit{};      ///< "seconds", "bytes", "ratio", "bytes/s", "percent", …; scaled with SI or binary prefixes; empty:
                           ///< plain numbers.
  series::instant start = 0, end = 0;
  /// Two samples further apart than one and a half of it are not joined: a gap. 0: only what is no number parts them.
  series::duration step = 0;
  std::vector<line> lines{};
  std::vector<threshold> thresholds{};
  std::string zone{};  ///< An IANA name for the time axis; empty: UTC. What is unknown is UTC, and the axis says so.
  /// Lines as areas on top of each other, what is negative below zero. A line that has a gap counts as nothing there.
  bool is_stacked = false;
};

enum class picture : std::uint8_t { svg, png };

struct size {
  unsigned width = 800, height = 400;  ///< Of CSS pixels; 200 to 4000 each.
  double scale = 1;                    ///< Of PNG: 2 for dense screens; 1 to 4.
  bool is_dark = false;
};

inline constexpr std::size_t most_lines = 50;      ///< More are left out, the flattest first, and the legend says how many.
inline constexpr std::size_t most_thresholds = 8;  ///< More are left out.
/// Of all lines together. Of the samples that fall in one pixel column the least and the greatest are drawn, and columns get
/// wider where there are many lines; an SVG is under 400 KiB whatever is drawn.
inline constexpr std::size_t most_points = 24'000;
/// Of a PNG, four bytes each while it is drawn.
inline constexpr std::size_t most_pixels = 16'000'000;

/// Loads Cairo and Pango with the first call. NaN is a gap, infinities are drawn at the edge. Both pictures are laid out by
/// Pango and so the same; Cairo draws the PNG. The SVG is written here, since Cairo's holds outlines of letters, which nobody
/// can read or search, and numbers of its surfaces, which change with every one: ours holds text as text, a `<title>`, a
/// `<desc>` with the least, greatest and last value of each line, no script and no reference to anywhere. The same input gives
/// the same bytes on one machine. Time and memory: linear in the samples. Errors: source_unavailable where the libraries or
/// every font are missing, naming the packages; invalid_argument for sizes and times; response_too_large. Threads: any, several
/// at once.
[[nodiscard]] result<std::string> draw(const chart& what, picture as, const size& how = {});

/// Folders of this host that fonts, their configuration and time zones are in, for `needs::folders`.
[[nodiscard]] std::vector<std::string> font_folders();

}  // namespace hondana::charts
