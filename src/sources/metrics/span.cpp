/// Steps that people would choose.
#include "sources/metrics/span.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace hondana::metrics {
namespace {

constexpr series::duration usual_span = hour;
/// More do not fit on a chart, and say little more to a reader.
constexpr series::duration usual_points = 300;

constexpr series::instant first_of_time = INT64_MIN;

}  // namespace

series::duration usual_step(series::duration at_least) noexcept {
  constexpr std::array<series::duration, 18> usual{second,     5 * second, 10 * second, 15 * second, 30 * second, minute,
                                                   2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour,
                                                   2 * hour,   3 * hour,   6 * hour,    12 * hour,   day,         7 * day};
  for (const auto one : usual)
    if (one >= at_least) return one;
  return (at_least + 7 * day - 1) / (7 * day) * (7 * day);
}

result<series::range> span_of(const address& at, series::instant now, series::duration interval, const limits& most) {
  series::range out;
  out.end = at.end ? at.end->at : now;
  out.start = at.start ? at.start->at : out.end - std::max(usual_span, 2 * at.when.wait);
  if (out.start > out.end)
    return fail(errc::invalid_argument,
                "end: it is before start (" + text_of(out.start) + "). Give a later time, or leave it out.");
  out.step = at.step > 0 ? at.step : usual_step(std::max(interval, (out.end - out.start) / usual_points));
  // Steps longer than `for` would see a condition as lasting only when the next of them has passed.
  if (const auto lasting = std::max(interval, at.when.wait);
      at.step <= 0 && !at.start && at.when.wait > 0 && lasting < out.step) {
    out.step = lasting;
    out.start = out.end - usual_points * lasting;
  }
  const auto length = out.end - out.start;
  if (out.steps() > most.points) {
    const auto fits = usual_step(length / static_cast<series::duration>(most.points) + 1);
    return fail(errc::response_too_large, "From " + text_of(out.start) + " to " + text_of(out.end) + " a step of " +
                                              series::to_text(out.step) + " makes " + std::to_string(out.steps()) +
                                              " points per series, and an answer has " + std::to_string(most.points) +
                                              " at most. Use step=" + series::to_text(fits) +
                                              " or longer, or a shorter range with start and end.");
  }
  return out;
}

result<series::range> watched_span_of(const address& at, series::instant now, series::duration interval, const limits& most) {
  auto out = span_of(at, now, interval, most);
  if (!out) return out;
  const auto enough = at.when.wait + series::usual_look_back + out->step;
  const auto steps = (enough + out->step - 1) / out->step;
  out->start = std::max(out->end - steps * out->step, at.start && !at.start->is_relative ? out->start : first_of_time);
  // What is said in `for` may be far longer than what is between start and end.
  if (out->steps() > most.points)
    return fail(errc::response_too_large, "for: this takes " + std::to_string(out->steps()) + " steps of " +
                                              series::to_text(out->step) + ", and " + std::to_string(most.points) +
                                              " at most are evaluated. Use a longer step.");
  return out;
}

series::instant reference(series::instant now, std::optional<series::instant> latest, series::duration interval) noexcept {
  if (interval <= 0) return now;
  if (latest && *latest <= now && now - *latest <= 2 * interval) return *latest;
  return now - ((now % interval) + interval) % interval;
}

}  // namespace hondana::metrics
