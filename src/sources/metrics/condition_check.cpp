/// Evaluates the condition of an address on the series of a metric, and writes the verdict as JSON.
#include "sources/metrics/condition_check.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hondana::metrics {
namespace {

constexpr std::size_t most_shown = 100;

std::vector<series::instant> steps_of(const series::range& span) {
  std::vector<series::instant> out;
  out.reserve(span.steps());
  for (auto at = span.start; at <= span.end; at += span.step) out.push_back(at);
  return out;
}

/// Steps at which some target was known to be up or down. All steps if the source has no `up` metric.
result<std::vector<series::instant>> known_steps(backend& from, const series::range& span, const limits& most, const call& by) {
  const auto up = from.find("up", by);
  if (!up) return tl::unexpected(up.error());
  if (!*up) return steps_of(span);
  range_request asked;
  asked.which.name = "up";
  asked.how.time = series::over_time::last;
  asked.how.across = series::across::count;
  asked.at = span;
  asked.most_series = most.series;
  asked.most_points = most.points;
  const auto got = from.range(asked, by);
  if (!got) return tl::unexpected(got.error());
  std::vector<series::instant> out;
  for (const auto& one : got->series)
    for (const auto& each : one.samples) out.push_back(each.at);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string_view word_of(standing::state state) noexcept {
  switch (state) {
    case standing::state::met:
      return "met";
    case standing::state::pending:
      return "pending";
    case standing::state::quiet:
      return "quiet";
    case standing::state::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

bool verdict::holds() const noexcept {
  return std::any_of(all.begin(), all.end(), [](const judged& one) { return one.how.now == standing::state::met; });
}

std::optional<series::instant> verdict::since() const noexcept {
  std::optional<series::instant> out;
  for (const auto& one : all)
    if (one.how.now == standing::state::met && (!out || one.how.since < *out)) out = one.how.since;
  return out;
}

result<range_answer> ask(backend& from, const address& at, const series::range& span, const limits& most, const call& by) {
  if (at.of == place::query) return from.query(at.promql, span, most.points, by);
  range_request asked;
  asked.which = at.selector();
  asked.how = at.how;
  asked.at = span;
  asked.most_series = most.series;
  asked.most_points = most.points;
  return from.range(asked, by);
}

result<verdict> judge(backend& from, const address& at, const series::range& span, const limits& most, const call& by) {
  verdict out;
  HONDANA_TRY(auto got, ask(from, at, span, most, by));
  out.what = std::move(got);
  // Values may arrive less often than steps. A series that is missing for this long is gone.
  const auto gap = std::max(series::usual_look_back, 2 * span.step);
  if (at.when.above || at.when.below)
    for (const auto& one : out.what.series) out.all.push_back({false, one, stand(one.samples, at.when, span.end, gap)});
  if (at.when.is_absent) {
    HONDANA_TRY(const auto known, known_steps(from, span, most, by));
    condition gone;
    gone.above = 0;
    gone.wait = at.when.wait;
    series::points points{{}, absence(out.what.series, known)};
    const auto how = stand(points.samples, gone, span.end, gap);
    out.all.push_back({true, std::move(points), how});
  }
  return out;
}

std::string json_of(const told_range& of, const verdict& found) {
  std::string out;
  json::writer to(out);
  const auto& when = of.at.when;
  to.begin_object();
  write_head(to, of);
  to.key("condition").begin_object();
  if (when.above) to.key("above").number(*when.above);
  if (when.below) to.key("below").number(*when.below);
  if (when.is_absent) to.key("absent").boolean(true);
  to.key("for");
  write_seconds(to, when.wait);
  to.end_object();
  to.key("holds").boolean(found.holds());
  if (const auto since = found.since()) to.member("since", text_of(*since));
  std::size_t shown = 0, quiet = 0, unknown = 0, left_out = 0;
  to.key("series").begin_array();
  for (const auto wanted : {standing::state::met, standing::state::pending}) {
    for (const auto& one : found.all) {
      if (one.how.now != wanted) continue;
      if (++shown > most_shown) {
        ++left_out;
        continue;
      }
      to.begin_object();
      to.member("state", word_of(wanted));
      to.member("since", text_of(one.how.since));
      to.key("sinceEarlier").boolean(one.how.is_since_earlier);
      if (one.is_absence) to.key("absent").boolean(true);
      to.key("labels");
      write_labels(to, one.of.of);
      if (one.how.value && !one.is_absence) {
        to.key("value");
        write_value(to, *one.how.value);
      }
      to.key("points");
      write_points(to, one.of.samples);
      to.end_object();
    }
  }
  to.end_array();
  for (const auto& one : found.all) {
    quiet += one.how.now == standing::state::quiet ? 1U : 0U;
    unknown += one.how.now == standing::state::unknown ? 1U : 0U;
  }
  to.key("quiet").unsigned_integer(quiet);
  to.key("unknown").unsigned_integer(unknown);
  if (left_out > 0) to.key("leftOut").unsigned_integer(left_out);
  if (!of.what.warnings.empty()) {
    to.key("warnings").begin_array();
    for (const auto& one : of.what.warnings) to.string(one);
    to.end_array();
  }
  to.end_object();
  return out;
}

}  // namespace hondana::metrics
