/// Colours that people tell apart whatever eyes they have.
#pragma once

#include <cstddef>

#include "sources/metrics/charts/canvas.hpp"

namespace hondana::charts {

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
