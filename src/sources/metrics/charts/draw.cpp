/// Draws a chart as a picture.
#include "sources/metrics/charts/chart.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "sources/metrics/charts/plot.hpp"
#include "sources/metrics/charts/png_canvas.hpp"
#include "sources/metrics/charts/shown_text.hpp"
#include "sources/metrics/charts/svg_canvas.hpp"
#include "sources/metrics/charts/typesetter.hpp"
#include "sources/metrics/charts/zone.hpp"

namespace hondana::charts {
namespace {

constexpr unsigned least_side = 200;
constexpr unsigned greatest_side = 4000;
// 0001-01-01 and 9999-12-31, less a day for the zones.
constexpr series::instant first_instant = -62'135'510'400'000;
constexpr series::instant last_instant = 253'402'214'400'000;

result<void> check(const chart& what, picture as, const size& how) {
  const auto refuse = [](std::string text) { return fail(errc::invalid_argument, std::move(text)); };
  for (const unsigned side : {how.width, how.height}) {
    if (side < least_side || side > greatest_side) {
      return refuse("a chart's width and height must be from 200 to 4000 pixels, not " + std::to_string(side));
    }
  }
  if (!(how.scale >= 1 && how.scale <= 4)) return refuse("a chart's scale must be from 1 to 4");
  if (what.start < first_instant || what.end > last_instant) return refuse("a chart's times must be in the years 1 to 9999");
  if (what.end < what.start) return refuse("a chart's end is before its start");
  if (as == picture::png && how.width * how.scale * how.height * how.scale > static_cast<double>(most_pixels)) {
    return fail(errc::response_too_large, "the image would have more than " + std::to_string(most_pixels) +
                                              " pixels; request a smaller width, height or scale, or SVG");
  }
  return {};
}

}  // namespace

result<std::string> draw(const chart& what, picture as, const size& how) {
  HONDANA_TRY(check(what, as, how));
  HONDANA_TRY(const auto letters, typesetter::borrowed());
  const zone in(letters.library(), what.zone);
  const auto plan = plot_of(what);
  if (as == picture::png) {
    png_canvas on(letters, how.width, how.height, how.scale);
    draw_plot(plan, on, letters, in, how);
    return on.finish();
  }
  const auto title = shown_text(what.title);
  svg_canvas on(how.width, how.height, title.empty() ? "chart" : title, description_of(plan, in));
  draw_plot(plan, on, letters, in, how);
  return std::move(on).finish();
}

}  // namespace hondana::charts
