/// The summary of a metrics source: a survey of its metrics in the background that finds unusual values.
#include "sources/metrics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/metrics/address.hpp"
#include "sources/metrics/anomaly_detection.hpp"
#include "sources/metrics/exposition/writer.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/rendering.hpp"

namespace hondana::metrics {
namespace {

constexpr series::duration look_back = 25 * hour;
constexpr series::duration survey_step = 5 * minute;
constexpr std::size_t most_findings = 50;
constexpr std::size_t most_of_metric = 5;
constexpr std::size_t shown_points = 13;
constexpr std::size_t most_names_at_once = 20'000;

/// Orders by weight, highest first.
bool is_weightier(const finding& a, const finding& b) {
  return a.weight != b.weight ? a.weight > b.weight : std::tie(a.metric, a.text) < std::tie(b.metric, b.text);
}

bool is_late(const call& by) { return by.stop.stop_requested() || monotonic_clock::now() >= by.deadline; }

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string shown_number(double value, std::string_view unit) {
  return exposition::number_text(value) + (unit.empty() ? "" : " ") + std::string(unit);
}

std::vector<series::sample> last_points(const std::vector<series::sample>& all) {
  return {all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), shown_points)), all.end()};
}

/// The URI of a resource that shows these values.
std::string evidence_uri(const std::string& source, const std::string& name, const series::identity& of, bool redact) {
  address at;
  at.source = source;
  at.of = place::metric;
  at.metric = name;
  for (const auto& [label, value] : of.labels) {
    if (redact && holds_secret(label, value)) continue;
    auto one = series::matcher::of(label, series::matcher::relation::equal, value);
    if (one) at.matchers.push_back(std::move(*one));
  }
  auto out = uri_of(at);
  return out.size() > max_uri_bytes ? metric_uri(source, name) : out;
}

bool is_before(const metric& one, std::string_view name) { return one.name < name; }

/// Whether the error describes the state of the source, not a mistake in the request.
bool is_about_the_source(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::broken_protocol || code == errc::timed_out ||
         code == errc::cancelled;
}

double severity_weight(std::string_view severity) {
  if (severity == "critical" || severity == "page") return 0.95;
  if (severity == "info" || severity == "none") return 0.3;
  return 0.7;
}

}  // namespace

double score_of(const std::vector<finding>& all) {
  constexpr double grave = 0.5, each_more = 0.05;
  double most = 0;
  std::size_t graves = 0;
  for (const auto& one : all) {
    most = std::max(most, one.weight);
    graves += one.weight >= grave ? 1U : 0U;
  }
  return std::min(1.0, most + (graves > 1 ? each_more * static_cast<double>(graves - 1) : 0));
}

void surveyor::look_at_targets(summary& into, const call& by) {
  auto all = from_.targets(by);
  if (!all) {
    if (all.error().code != errc::unsupported) into.remarks.push_back("targets: " + all.error().public_text);
    return;
  }
  for (const auto& one : *all) (one.is_up || !one.last_scrape ? into.targets_up : into.targets_down) += 1;
  for (auto& one : *all) {
    if (one.is_up || !one.last_scrape) continue;
    if (how_.redact) mask(one);
    finding down;
    down.kind = "target-down";
    down.weight = into.targets_up == 0 ? 0.9 : 0.8;
    down.text = "The target " + one.job + ' ' + one.instance + " does not answer" +
                (one.last_error.empty() ? "." : ": " + one.last_error);
    down.metric = "up";
    down.of = {"up", {{"instance", one.instance}, {"job", one.job}}};
    down.uri = uri_of(how_.source, place::targets);
    into.unusual.push_back(std::move(down));
  }
}

void surveyor::look_at_alerts(summary& into, const call& by) {
  auto all = from_.alerts(by);
  if (!all) {
    if (all.error().code != errc::unsupported) into.remarks.push_back("alerts: " + all.error().public_text);
    return;
  }
  for (auto& one : *all) {
    if (one.state != "firing" && one.state != "pending") continue;
    if (how_.redact) mask(one);
    finding alert;
    alert.kind = "alert";
    alert.weight = one.state == "firing" ? severity_weight(one.severity) : 0.35;
    alert.text = "The alert " + one.name + " is " + one.state + '.';
    for (const auto& [name, text] : one.annotations)
      if (name == "summary" || (name == "description" && alert.text.ends_with(one.state + '.'))) alert.text += ' ' + text;
    alert.of = {"", one.labels};
    alert.since = one.since;
    alert.uri = uri_of(how_.source, place::alerts);
    into.unusual.push_back(std::move(alert));
  }
}

void surveyor::look_at_disks(summary& into, series::instant now, const call& by) {
  constexpr series::duration fitted = 6 * hour;
  constexpr std::string_view name = "node_filesystem_avail_bytes";
  range_request asked;
  asked.which.name = name;
  asked.how.time = series::over_time::last;
  asked.at = {now - fitted, now, survey_step};
  const auto got = from_.range(asked, by);
  if (!got) return;
  for (const auto& one : got->series) {
    const auto left = time_to_zero(one.samples);
    if (!left || *left > day) continue;
    finding full;
    full.kind = "filling";
    full.weight = weight_of_filling(*left);
    full.metric = name;
    full.of = one.of;
    full.uri = evidence_uri(how_.source, full.metric, one.of, how_.redact);
    if (how_.redact) mask(full.of);
    full.text = "The file system " + std::string(full.of.value_of("mountpoint")) + " will be full in about " +
                span_text(*left) + " at the rate of the last hours.";
    full.unit = "bytes";
    full.now = one.samples.back().value;
    full.points = last_points(one.samples);
    into.unusual.push_back(std::move(full));
  }
}

result<surveyor::of_metric> surveyor::look_at(const metric& one, series::instant now, const call& by) {
  using series::kind;
  of_metric out;
  const bool is_counter = one.of.kind == kind::counter;
  // Values of these metrics are codes or times, which cannot be too high or too low.
  const bool is_left = one.of.kind == kind::info || one.of.kind == kind::stateset || one.name.ends_with("_info") ||
                       one.name.ends_with("_timestamp_seconds") || one.name.ends_with("_time_seconds");
  if (is_left) return out;
  range_request asked;
  asked.which.name = one.name;
  if (one.of.kind == kind::histogram) {
    asked.how.quantiles = {0.9};
  } else {
    asked.how.time = series::over_time::last;
  }
  asked.at = {now - look_back, now, survey_step};
  asked.most_series = how_.most_series;
  const auto got = from_.range(asked, by);
  if (!got) {
    if (is_about_the_source(got.error().code)) return tl::unexpected(got.error());
    out.is_left_out = got.error().code == errc::response_too_large;
    return out;
  }
  out.series = got->series.size();
  for (const auto& each : got->series) {
    const auto values = is_counter ? rates_of(each.samples) : each.samples;
    auto shown = each.of;
    if (how_.redact) mask(shown);
    shown.name = one.name;
    const auto begin = [&](std::string what, double weight) {
      finding made;
      made.kind = std::move(what);
      made.weight = weight;
      made.metric = one.name;
      made.of = shown;
      made.uri =
          evidence_uri(how_.source, one.name, one.of.kind == kind::histogram ? series::identity{} : each.of, how_.redact);
      made.points = last_points(values);
      return made;
    };
    if (is_counter)
      if (const auto at = reset_of(each.samples, now - hour)) {
        auto made = begin("reset", 0.3);
        made.since = at;
        made.text =
            series::to_text(shown) + " was reset at " + metrics::text_of(*at) + ": the program that counts it was restarted.";
        out.found.push_back(std::move(made));
      }
    const auto away = departure_of(values);
    if (!away || values.empty() || values.back().at < now - survey_step) continue;
    auto made = begin(away->now > away->usual ? "high" : "low", away->weight);
    made.unit = unit_of({.series = {}, .of = one.of, .how = asked.how, .warnings = {}}, one.name) + (is_counter ? "/s" : "");
    made.now = away->now;
    made.usual = away->usual;
    made.text = series::to_text(shown) + " is " + shown_number(away->now, made.unit) + "; the usual value is " +
                shown_number(away->usual, made.unit) + '.';
    out.found.push_back(std::move(made));
  }
  std::sort(out.found.begin(), out.found.end(), is_weightier);
  if (out.found.size() > most_of_metric) out.found.resize(most_of_metric);
  return out;
}

bool surveyor::look_at_metrics(const std::vector<metric>& all, series::instant now, const call& by) {
  auto at = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), after_ + '\0', is_before) - all.begin());
  for (std::size_t i = 0; i < std::min(all.size(), how_.most_metrics) && !is_late(by); ++i, ++at) {
    const auto& one = all[at % all.size()];
    auto found = look_at(one, now, by);
    const bool is_over = is_late(by);
    // A metric that uses up the whole time limit must not stop the next round from continuing after it.
    if (!is_over || i == 0) after_ = one.name;
    if (is_over) break;
    // Keep earlier findings, since there are no newer ones.
    if (!found) return false;
    known_[one.name] = std::move(*found);
  }
  std::erase_if(known_, [&](const auto& one) {
    const auto there = std::lower_bound(all.begin(), all.end(), one.first, is_before);
    return there == all.end() || there->name != one.first;
  });
  return true;
}

result<summary> surveyor::look(series::instant now, call by) {
  by.deadline = std::min(by.deadline, monotonic_clock::now() + how_.time);
  summary out;
  out.source = how_.source;
  out.at = now;
  HONDANA_TRY(const auto names, from_.metrics({}, {}, most_names_at_once, by));
  out.metrics = names.size();
  look_at_targets(out, by);
  look_at_alerts(out, by);
  look_at_disks(out, now, by);
  if (!look_at_metrics(names, now, by))
    out.remarks.emplace_back("The source stopped answering; findings about metrics are from earlier rounds.");
  std::size_t left_out = 0;
  for (const auto& [name, found] : known_) {
    ++out.looked_at;
    out.series += found.series;
    left_out += found.is_left_out ? 1U : 0U;
    out.unusual.insert(out.unusual.end(), found.found.begin(), found.found.end());
  }
  if (left_out > 0)
    out.remarks.push_back("Skipped, since each has more than " + std::to_string(how_.most_series) +
                          " series: " + counted(left_out, "metric") + '.');
  if (out.looked_at < out.metrics)
    out.remarks.push_back("Postponed to the next rounds: " + counted(out.metrics - out.looked_at, "metric") + '.');
  std::sort(out.unusual.begin(), out.unusual.end(), is_weightier);
  out.score = score_of(out.unusual);
  if (out.unusual.size() > most_findings) {
    out.remarks.push_back("The " + std::to_string(most_findings) + " weightiest of " + std::to_string(out.unusual.size()) +
                          " findings.");
    out.unusual.resize(most_findings);
  }
  return out;
}

std::string json_of(const summary& of) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("source", of.source);
  to.member("at", metrics::text_of(of.at));
  to.key("score").number(of.score);
  to.key("unusual").begin_array();
  for (const auto& one : of.unusual) {
    to.begin_object();
    to.member("kind", one.kind);
    to.key("weight").number(one.weight);
    to.member("text", one.text);
    to.member_if("metric", one.metric);
    to.key("labels");
    write_labels(to, one.of);
    to.member_if("unit", one.unit);
    if (one.now) {
      to.key("now");
      write_value(to, *one.now);
    }
    if (one.usual) {
      to.key("usual");
      write_value(to, *one.usual);
    }
    if (one.since) to.member("since", metrics::text_of(*one.since));
    to.member_if("uri", one.uri);
    if (!one.points.empty()) {
      to.key("points");
      write_points(to, one.points);
    }
    to.end_object();
  }
  to.end_array();
  to.key("targets").begin_object();
  to.key("up").unsigned_integer(of.targets_up);
  to.key("down").unsigned_integer(of.targets_down);
  to.end_object();
  to.key("metrics").unsigned_integer(of.metrics);
  to.key("lookedAt").unsigned_integer(of.looked_at);
  to.key("series").unsigned_integer(of.series);
  to.key("remarks").begin_array();
  for (const auto& one : of.remarks) to.string(one);
  to.end_array();
  to.end_object();
  return out;
}

std::string text_of(const summary& of) {
  std::string out = of.unusual.empty() ? "No findings" : counted(of.unusual.size(), "finding");
  out += " in " + of.source + " at " + metrics::text_of(of.at) + " (score " +
         exposition::number_text(static_cast<double>(static_cast<int>(of.score * 100)) / 100) +
         "): " + std::to_string(of.looked_at) + " of " + std::to_string(of.metrics) + " metrics, " + std::to_string(of.series) +
         " series, " + std::to_string(of.targets_up) + " targets up, " + std::to_string(of.targets_down) + " down.\n";
  for (const auto& one : of.unusual) {
    // A line break in an annotation must not start a new line here.
    auto text = one.text;
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    out += "* " + text + (one.uri.empty() ? "" : " " + one.uri) + '\n';
  }
  for (const auto& one : of.remarks) out += "-- " + one + '\n';
  return out;
}

summaries::summaries(summary_options how, std::shared_ptr<backend> from, std::chrono::milliseconds every,
                     std::function<series::instant()> now, listener told)
    : from_(std::move(from)), every_(every), now_(std::move(now)), told_(std::move(told)), surveyor_(std::move(how), *from_) {}

summaries::~summaries() {
  thread_.request_stop();
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

summaries::clock::time_point summaries::next() const {
  constexpr std::chrono::milliseconds after_failure{3000};
  return *made_ + (problem_ ? std::min(every_, after_failure) : every_);
}

void summaries::want() {
  const std::lock_guard lock(mutex_);
  is_wanted_ = true;
  if (!thread_.joinable()) {
    const executor::signals_blocked quiet;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  news_.notify_all();
}

result<std::shared_ptr<const summary>> summaries::get(const call& by) {
  std::uint64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    if (made_ && clock::now() < next()) {
      if (problem_) return tl::unexpected(*problem_);
      return last_;
    }
    before = rounds_;
  }
  want();
  std::unique_lock lock(mutex_);
  const auto until = std::min(by.deadline, clock::now() + std::chrono::minutes(1));
  monotonic_clock::wait_until(news_, lock, by.stop, until, [&] { return rounds_ != before; });
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (rounds_ == before) {
    if (last_) return last_;
    return fail(errc::timed_out, "The first summary is not ready yet. Retry in a few seconds.");
  }
  if (problem_) return tl::unexpected(*problem_);
  return last_;
}

std::shared_ptr<const summary> summaries::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void summaries::run(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!news_.wait(lock, stop, [&] { return is_wanted_; })) return;
      // Only the end of the source interrupts this wait.
      if (made_) monotonic_clock::wait_until(news_, lock, stop, next(), [] { return false; });
      if (stop.stop_requested()) return;
      is_wanted_ = false;
    }
    call by;
    by.who.identity = "hondana";
    by.stop = stop;
    auto made = [&]() -> result<summary> {
      try {
        return surveyor_.look(now_(), by);
      } catch (const std::exception& error) {
        return fail(errc::source_unavailable, "The summary could not be created.", error.what());
      }
    }();
    bool is_moved = false, is_made = false;
    {
      const std::lock_guard lock(mutex_);
      ++rounds_;
      made_ = clock::now();
      problem_.reset();
      if (made) {
        constexpr double far = 0.1;
        last_ = std::make_shared<const summary>(std::move(*made));
        is_made = true;
        is_moved = !told_score_ || std::abs(last_->score - *told_score_) >= far;
        if (is_moved) told_score_ = last_->score;
      } else {
        problem_ = std::move(made.error());
      }
      news_.notify_all();
    }
    if (stop.stop_requested()) return;
    if (is_made && told_.made) told_.made();
    if (is_moved && told_.moved) told_.moved();
  }
}

}  // namespace hondana::metrics
