/// The summary of a metrics source: a scan of its metrics in the background that finds unusual values.
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

constexpr series::duration lookback = 25 * hour;
constexpr series::duration scan_step = 5 * minute;
constexpr std::size_t max_findings = 50;
constexpr std::size_t max_metric_findings = 5;
constexpr std::size_t max_points = 13;
constexpr std::size_t max_names = 20'000;

/// Orders by weight, highest first.
bool is_weightier(const finding& a, const finding& b) {
  return a.weight != b.weight ? a.weight > b.weight : std::tie(a.metric, a.text) < std::tie(b.metric, b.text);
}

bool is_past_deadline(const request_context& context) {
  return context.stop.stop_requested() || monotonic_clock::now() >= context.deadline;
}

std::string count_text(std::size_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string number_with_unit(double value, std::string_view unit) {
  return exposition::format_number(value) + (unit.empty() ? "" : " ") + std::string(unit);
}

std::vector<series::sample> last_samples(const std::vector<series::sample>& samples) {
  return {samples.end() - static_cast<std::ptrdiff_t>(std::min(samples.size(), max_points)), samples.end()};
}

/// The URI of a resource that shows these values.
std::string evidence_uri(const std::string& source, const std::string& name, const series::identity& identity, bool redact) {
  address evidence;
  evidence.source = source;
  evidence.kind = resource_kind::metric;
  evidence.metric = name;
  for (const auto& [label, value] : identity.labels) {
    if (redact && has_secret(label, value)) continue;
    auto matcher = series::matcher::create(label, series::matcher::match_type::equal, value);
    if (matcher) evidence.matchers.push_back(std::move(*matcher));
  }
  auto out = uri_of(evidence);
  return out.size() > max_uri_bytes ? metric_uri(source, name) : out;
}

bool is_before(const metric_info& metric, std::string_view name) { return metric.name < name; }

/// Whether the error describes the state of the source, not a mistake in the request.
bool is_source_error(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::protocol_error || code == errc::timed_out || code == errc::cancelled;
}

double severity_weight(std::string_view severity) {
  if (severity == "critical" || severity == "page") return 0.95;
  if (severity == "info" || severity == "none") return 0.3;
  return 0.7;
}

}  // namespace

double score_of(const std::vector<finding>& findings) {
  constexpr double severe_weight = 0.5, bonus = 0.05;
  double max_weight = 0;
  std::size_t severe_count = 0;
  for (const auto& finding : findings) {
    max_weight = std::max(max_weight, finding.weight);
    severe_count += finding.weight >= severe_weight ? 1U : 0U;
  }
  return std::min(1.0, max_weight + (severe_count > 1 ? bonus * static_cast<double>(severe_count - 1) : 0));
}

void anomaly_scanner::scan_targets(summary& summary, const request_context& context) {
  auto targets = backend_.targets(context);
  if (!targets) {
    if (targets.error().code != errc::unsupported) summary.notes.push_back("targets: " + targets.error().public_text);
    return;
  }
  for (const auto& target : *targets) (target.is_up || !target.last_scrape ? summary.targets_up : summary.targets_down) += 1;
  for (auto& failed : *targets) {
    if (failed.is_up || !failed.last_scrape) continue;
    if (options_.redact) mask(failed);
    finding down;
    down.kind = "target-down";
    down.weight = summary.targets_up == 0 ? 0.9 : 0.8;
    down.text = "The target " + failed.job + ' ' + failed.instance + " does not answer" +
                (failed.last_error.empty() ? "." : ": " + failed.last_error);
    down.metric = "up";
    down.identity = {"up", {{"instance", failed.instance}, {"job", failed.job}}};
    down.uri = uri_of(options_.source, resource_kind::targets);
    summary.findings.push_back(std::move(down));
  }
}

void anomaly_scanner::scan_alerts(summary& summary, const request_context& context) {
  auto alerts = backend_.alerts(context);
  if (!alerts) {
    if (alerts.error().code != errc::unsupported) summary.notes.push_back("alerts: " + alerts.error().public_text);
    return;
  }
  for (auto& alert : *alerts) {
    if (alert.state != "firing" && alert.state != "pending") continue;
    if (options_.redact) mask(alert);
    finding entry;
    entry.kind = "alert";
    entry.weight = alert.state == "firing" ? severity_weight(alert.severity) : 0.35;
    entry.text = "The alert " + alert.name + " is " + alert.state + '.';
    for (const auto& [name, text] : alert.annotations)
      if (name == "summary" || (name == "description" && entry.text.ends_with(alert.state + '.'))) entry.text += ' ' + text;
    entry.identity = {"", alert.labels};
    entry.started_at = alert.active_at;
    entry.uri = uri_of(options_.source, resource_kind::alerts);
    summary.findings.push_back(std::move(entry));
  }
}

void anomaly_scanner::scan_disks(summary& summary, series::instant now, const request_context& context) {
  constexpr series::duration fit_window = 6 * hour;
  constexpr std::string_view name = "node_filesystem_avail_bytes";
  range_request request;
  request.selector.name = name;
  request.aggregation.time = series::over_time::last;
  request.range = {now - fit_window, now, scan_step};
  const auto answer = backend_.range(request, context);
  if (!answer) return;
  for (const auto& series : answer->series) {
    const auto time_left = time_to_zero(series.samples);
    if (!time_left || *time_left > day) continue;
    finding entry;
    entry.kind = "filling";
    entry.weight = filling_weight(*time_left);
    entry.metric = name;
    entry.identity = series.id;
    entry.uri = evidence_uri(options_.source, entry.metric, series.id, options_.redact);
    if (options_.redact) mask(entry.identity);
    entry.text = "The file system " + std::string(entry.identity.value_of("mountpoint")) + " will be full in about " +
                 format_duration(*time_left) + " at the rate of the last hours.";
    entry.unit = "bytes";
    entry.current = series.samples.back().value;
    entry.points = last_samples(series.samples);
    summary.findings.push_back(std::move(entry));
  }
}

result<anomaly_scanner::metric_findings> anomaly_scanner::scan_metric(const metric_info& metric, series::instant now,
                                                                      const request_context& context) {
  using series::kind;
  metric_findings out;
  const bool is_counter = metric.metadata.kind == kind::counter;
  // Values of these metrics are codes or times, which cannot be too high or too low.
  const bool is_skipped = metric.metadata.kind == kind::info || metric.metadata.kind == kind::stateset ||
                          metric.name.ends_with("_info") || metric.name.ends_with("_timestamp_seconds") ||
                          metric.name.ends_with("_time_seconds");
  if (is_skipped) return out;
  range_request request;
  request.selector.name = metric.name;
  if (metric.metadata.kind == kind::histogram) {
    request.aggregation.quantiles = {0.9};
  } else {
    request.aggregation.time = series::over_time::last;
  }
  request.range = {now - lookback, now, scan_step};
  request.max_series = options_.max_series;
  const auto answer = backend_.range(request, context);
  if (!answer) {
    if (is_source_error(answer.error().code)) return tl::unexpected(answer.error());
    out.is_skipped = answer.error().code == errc::response_too_large;
    return out;
  }
  out.series_count = answer->series.size();
  for (const auto& raw : answer->series) {
    const auto values = is_counter ? rates_of(raw.samples) : raw.samples;
    auto identity = raw.id;
    if (options_.redact) mask(identity);
    identity.name = metric.name;
    const auto make_finding = [&](std::string finding_kind, double weight) {
      finding created;
      created.kind = std::move(finding_kind);
      created.weight = weight;
      created.metric = metric.name;
      created.identity = identity;
      created.uri = evidence_uri(options_.source, metric.name,
                                 metric.metadata.kind == kind::histogram ? series::identity{} : raw.id, options_.redact);
      created.points = last_samples(values);
      return created;
    };
    if (is_counter)
      if (const auto reset_at = last_reset(raw.samples, now - hour)) {
        auto reset = make_finding("reset", 0.3);
        reset.started_at = reset_at;
        reset.text = series::to_text(identity) + " was reset at " + metrics::format_time(*reset_at) +
                     ": the program that counts it was restarted.";
        out.findings.push_back(std::move(reset));
      }
    const auto deviation = find_deviation(values);
    if (!deviation || values.empty() || values.back().time < now - scan_step) continue;
    auto anomaly = make_finding(deviation->current > deviation->baseline ? "high" : "low", deviation->weight);
    anomaly.unit =
        unit_of({.series = {}, .metadata = metric.metadata, .aggregation = request.aggregation, .warnings = {}}, metric.name) +
        (is_counter ? "/s" : "");
    anomaly.current = deviation->current;
    anomaly.baseline = deviation->baseline;
    anomaly.text = series::to_text(identity) + " is " + number_with_unit(deviation->current, anomaly.unit) +
                   "; the usual value is " + number_with_unit(deviation->baseline, anomaly.unit) + '.';
    out.findings.push_back(std::move(anomaly));
  }
  std::sort(out.findings.begin(), out.findings.end(), is_weightier);
  if (out.findings.size() > max_metric_findings) out.findings.resize(max_metric_findings);
  return out;
}

bool anomaly_scanner::scan_metrics(const std::vector<metric_info>& metrics, series::instant now,
                                   const request_context& context) {
  auto index = static_cast<std::size_t>(std::lower_bound(metrics.begin(), metrics.end(), last_metric_ + '\0', is_before) -
                                        metrics.begin());
  for (std::size_t i = 0; i < std::min(metrics.size(), options_.max_metrics) && !is_past_deadline(context); ++i, ++index) {
    const auto& metric = metrics[index % metrics.size()];
    auto findings = scan_metric(metric, now, context);
    const bool is_over = is_past_deadline(context);
    // A metric that uses up the whole time limit must not stop the next round from continuing after it.
    if (!is_over || i == 0) last_metric_ = metric.name;
    if (is_over) break;
    // Keep earlier findings, since there are no newer ones.
    if (!findings) return false;
    findings_[metric.name] = std::move(*findings);
  }
  std::erase_if(findings_, [&](const auto& entry) {
    const auto match = std::lower_bound(metrics.begin(), metrics.end(), entry.first, is_before);
    return match == metrics.end() || match->name != entry.first;
  });
  return true;
}

result<summary> anomaly_scanner::scan(series::instant now, request_context context) {
  context.deadline = std::min(context.deadline, monotonic_clock::now() + options_.timeout);
  summary out;
  out.source = options_.source;
  out.created_at = now;
  HONDANA_TRY(const auto names, backend_.metrics({}, {}, max_names, context));
  out.metric_count = names.size();
  scan_targets(out, context);
  scan_alerts(out, context);
  scan_disks(out, now, context);
  if (!scan_metrics(names, now, context))
    out.notes.emplace_back("The source stopped answering; findings about metrics are from earlier rounds.");
  std::size_t left_out = 0;
  for (const auto& [name, entry] : findings_) {
    ++out.scanned_metrics;
    out.scanned_series += entry.series_count;
    left_out += entry.is_skipped ? 1U : 0U;
    out.findings.insert(out.findings.end(), entry.findings.begin(), entry.findings.end());
  }
  if (left_out > 0)
    out.notes.push_back("Skipped, since each has more than " + std::to_string(options_.max_series) +
                        " series: " + count_text(left_out, "metric") + '.');
  if (out.scanned_metrics < out.metric_count)
    out.notes.push_back("Postponed to the next rounds: " + count_text(out.metric_count - out.scanned_metrics, "metric") + '.');
  std::sort(out.findings.begin(), out.findings.end(), is_weightier);
  out.score = score_of(out.findings);
  if (out.findings.size() > max_findings) {
    out.notes.push_back("The " + std::to_string(max_findings) + " weightiest of " + std::to_string(out.findings.size()) +
                        " findings.");
    out.findings.resize(max_findings);
  }
  return out;
}

std::string to_json(const summary& summary) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  writer.member("source", summary.source);
  writer.member("at", metrics::format_time(summary.created_at));
  writer.key("score").number(summary.score);
  writer.key("unusual").begin_array();
  for (const auto& finding : summary.findings) {
    writer.begin_object();
    writer.member("kind", finding.kind);
    writer.key("weight").number(finding.weight);
    writer.member("text", finding.text);
    writer.member_if("metric", finding.metric);
    writer.key("labels");
    write_labels(writer, finding.identity);
    writer.member_if("unit", finding.unit);
    if (finding.current) {
      writer.key("now");
      write_value(writer, *finding.current);
    }
    if (finding.baseline) {
      writer.key("usual");
      write_value(writer, *finding.baseline);
    }
    if (finding.started_at) writer.member("since", metrics::format_time(*finding.started_at));
    writer.member_if("uri", finding.uri);
    if (!finding.points.empty()) {
      writer.key("points");
      write_points(writer, finding.points);
    }
    writer.end_object();
  }
  writer.end_array();
  writer.key("targets").begin_object();
  writer.key("up").unsigned_integer(summary.targets_up);
  writer.key("down").unsigned_integer(summary.targets_down);
  writer.end_object();
  writer.key("metrics").unsigned_integer(summary.metric_count);
  writer.key("scannedMetrics").unsigned_integer(summary.scanned_metrics);
  writer.key("series").unsigned_integer(summary.scanned_series);
  writer.key("warnings").begin_array();
  for (const auto& note : summary.notes) writer.string(note);
  writer.end_array();
  writer.end_object();
  return out;
}

std::string to_text(const summary& summary) {
  std::string out = summary.findings.empty() ? "No findings" : count_text(summary.findings.size(), "finding");
  out += " in " + summary.source + " at " + metrics::format_time(summary.created_at) + " (score " +
         exposition::format_number(static_cast<double>(static_cast<int>(summary.score * 100)) / 100) +
         "): " + std::to_string(summary.scanned_metrics) + " of " + std::to_string(summary.metric_count) + " metrics, " +
         std::to_string(summary.scanned_series) + " series, " + std::to_string(summary.targets_up) + " targets up, " +
         std::to_string(summary.targets_down) + " down.\n";
  for (const auto& finding : summary.findings) {
    // A line break in an annotation must not start a new line here.
    auto text = finding.text;
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    out += "* " + text + (finding.uri.empty() ? "" : " " + finding.uri) + '\n';
  }
  for (const auto& note : summary.notes) out += "-- " + note + '\n';
  return out;
}

summary_cache::summary_cache(summary_options options, std::shared_ptr<backend> backend, std::chrono::milliseconds min_interval,
                             std::function<series::instant()> now, update_handlers handlers)
    : backend_(std::move(backend)),
      min_interval_(min_interval),
      now_(std::move(now)),
      handlers_(std::move(handlers)),
      scanner_(std::move(options), *backend_) {}

summary_cache::~summary_cache() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

summary_cache::clock::time_point summary_cache::next_update() const {
  constexpr std::chrono::milliseconds retry_delay{3000};
  return *updated_at_ + (error_ ? std::min(min_interval_, retry_delay) : min_interval_);
}

void summary_cache::request_update() {
  const std::lock_guard lock(mutex_);
  is_update_requested_ = true;
  if (!thread_.joinable()) {
    const executor::signal_blocker quiet;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  changed_.notify_all();
}

result<std::shared_ptr<const summary>> summary_cache::get(const request_context& context) {
  std::uint64_t previous_round = 0;
  {
    const std::lock_guard lock(mutex_);
    if (updated_at_ && clock::now() < next_update()) {
      if (error_) return tl::unexpected(*error_);
      return last_;
    }
    previous_round = rounds_;
  }
  request_update();
  std::unique_lock lock(mutex_);
  const auto deadline = std::min(context.deadline, clock::now() + std::chrono::minutes(1));
  monotonic_clock::wait_until(changed_, lock, context.stop, deadline, [&] { return rounds_ != previous_round; });
  if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (rounds_ == previous_round) {
    if (last_) return last_;
    return fail(errc::timed_out, "The first summary is not ready yet. Retry in a few seconds.");
  }
  if (error_) return tl::unexpected(*error_);
  return last_;
}

std::shared_ptr<const summary> summary_cache::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void summary_cache::run(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return is_update_requested_; })) return;
      // Only the end of the source interrupts this wait.
      if (updated_at_) monotonic_clock::wait_until(changed_, lock, stop, next_update(), [] { return false; });
      if (stop.stop_requested()) return;
      is_update_requested_ = false;
    }
    request_context context;
    context.caller.identity = "hondana";
    context.stop = stop;
    auto created = [&]() -> result<summary> {
      try {
        return scanner_.scan(now_(), context);
      } catch (const std::exception& error) {
        return fail(errc::source_unavailable, "The summary could not be created.", error.what());
      }
    }();
    bool has_score_changed = false, is_updated = false;
    {
      const std::lock_guard lock(mutex_);
      ++rounds_;
      updated_at_ = clock::now();
      error_.reset();
      if (created) {
        constexpr double min_change = 0.1;
        last_ = std::make_shared<const summary>(std::move(*created));
        is_updated = true;
        has_score_changed = !notified_score_ || std::abs(last_->score - *notified_score_) >= min_change;
        if (has_score_changed) notified_score_ = last_->score;
      } else {
        error_ = std::move(created.error());
      }
      changed_.notify_all();
    }
    if (stop.stop_requested()) return;
    if (is_updated && handlers_.on_update) handlers_.on_update();
    if (has_score_changed && handlers_.on_score_change) handlers_.on_score_change();
  }
}

}  // namespace hondana::metrics
