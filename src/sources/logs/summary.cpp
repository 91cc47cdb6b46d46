/// The summary of a log: counts by time slice and severity, frequent messages, and unusual observations.
#include "sources/logs/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "protocol/model/caller_checks.hpp"
#include "sources/logs/moment.hpp"

namespace hondana::logs {

void slice::add(const records::log_record& record) {
  ++total;
  const bool is_bad = is_error(record.level);
  if (is_bad) ++errors;
  ++levels[record.level ? static_cast<std::size_t>(*record.level) : severity_count];
  messages.add(record);
  if (!record.time) return;
  if (last) max_gap = std::max(max_gap, *record.time - *last);
  if (!first || *record.time < *first) first = record.time;
  if (!last || *record.time > *last) last = record.time;
  if (end <= begin) return;
  const auto offset = std::clamp<records::instant>(*record.time - begin, 0, end - begin - 1);
  auto& time_part = parts[static_cast<std::size_t>(offset * static_cast<records::instant>(part_count) / (end - begin))];
  ++time_part.total;
  if (is_bad) ++time_part.errors;
  if (record.level == records::severity::critical) ++time_part.critical;
}

/// Sets `findings` and `priority`. Compares the recent part of the range (an hour, or a quarter of ranges shorter than four
/// hours) with the rest.
///
/// - errors: at least 5, and at least three times as often as before. Weight 0.5 + 0.1 × log2(times), at most 0.95. The earlier
/// rate counts as at least one error in all the time before.
/// - critical: any critical record. Weight 0.8.
/// - new-message: a template that did not occur before. Weight: critical 0.9, error 0.7, warning 0.5. For others 0.35, with at
/// least 10 records. Requires 100 earlier records, and that no template was removed from the counter. At most five.
/// - silence: no record for at least ten minutes and three times the longest time between two records of the range. Weight 0.6.
/// Requires a range that ends now, was read to its end and has at least 20 records. Also requires an earlier pause, or records
/// in ten parts of its slices.
/// - burst: at least 200 records, five times as often as before. Weight 0.5.
///
/// The priority is the greatest of these weights. Without any, it is 0.3, or 0.1 for a log without records.
void add_findings(log_summary& report, const message_counter& messages, records::instant now);

namespace {

constexpr double default_priority = 0.3;
constexpr double empty_priority = 0.1;
constexpr double max_weight = 0.95;
constexpr std::size_t max_new_messages = 5;

/// The recent part of a range and the part before.
struct rate_comparison {
  slice::part recent{}, baseline{};
  double recent_hours = 0, baseline_hours = 0;
  records::instant max_gap = 0;  // between two records
  bool has_empty_parts = false;  // between parts with records
  std::size_t busy_parts = 0;

  [[nodiscard]] bool can_compare() const noexcept { return baseline_hours >= recent_hours && recent_hours > 0; }
};

void add_counts(slice::part& sum, const slice::part& part) noexcept {
  sum.total += part.total;
  sum.errors += part.errors;
  sum.critical += part.critical;
}

rate_comparison compare_rates(const log_summary& report) {
  rate_comparison comparison;
  std::optional<records::instant> last_end, last_time;
  for (const auto& counted : report.slices) {
    comparison.max_gap = std::max(comparison.max_gap, counted->max_gap);
    if (last_time && counted->first) comparison.max_gap = std::max(comparison.max_gap, *counted->first - *last_time);
    if (counted->last) last_time = counted->last;
    for (std::size_t i = 0; i < slice::part_count; ++i) {
      const auto begin = counted->part_begin(i);
      add_counts(begin >= report.recent_begin ? comparison.recent : comparison.baseline, counted->parts[i]);
      if (counted->parts[i].total == 0) continue;
      ++comparison.busy_parts;
      comparison.has_empty_parts = comparison.has_empty_parts || (last_end && begin > *last_end);
      last_end = counted->part_begin(i + 1);
    }
  }
  const auto begin = report.slices.empty() ? report.end : report.slices.front()->begin;
  // If the log began within the range, there is nothing to compare with before that.
  const auto known_begin = report.first ? std::max(begin, *report.first) : begin;
  comparison.recent_hours = static_cast<double>(report.end - std::max(report.recent_begin, begin)) / static_cast<double>(hour);
  comparison.baseline_hours = std::max(0.0, static_cast<double>(report.recent_begin - known_begin) / static_cast<double>(hour));
  return comparison;
}

std::string format_rate(double per_hour) {
  char out[32];
  std::snprintf(out, sizeof out, per_hour >= 10 || per_hour == 0 ? "%.0f" : "%.1f", per_hour);
  return out;
}

std::string_view level_name(std::optional<records::severity> level) { return level ? records::name_of(*level) : "no level"; }

class anomaly_detector {
 public:
  anomaly_detector(log_summary& report, const message_counter& messages, records::instant now)
      : report_(report), messages_(messages), now_(now), comparison_(compare_rates(report)) {}

  void run() {
    detect_errors();
    detect_critical();
    detect_new_messages();
    detect_silence();
    detect_burst();
  }

 private:
  /// Adds a finding. Greatest weight first; equal ones stay in the order of the calls.
  void add_finding(std::string kind, double weight, std::string text, std::string message = {}) {
    finding anomaly{std::move(kind), std::round(weight * 100) / 100, std::move(text), std::move(message)};
    const auto position = std::upper_bound(report_.findings.begin(), report_.findings.end(), anomaly,
                                           [](const finding& a, const finding& b) { return a.weight > b.weight; });
    report_.findings.insert(position, std::move(anomaly));
  }
  [[nodiscard]] std::string recent_range_text() const {
    return "in the last " + format_duration(report_.end - report_.recent_begin) +
           (report_.ends_at_last_record ? " of the log" : "");
  }

  void detect_errors() {
    constexpr std::uint64_t min_errors = 5;
    constexpr double min_ratio = 3;
    if (!comparison_.can_compare() || comparison_.recent.errors < min_errors) return;
    const auto rate = static_cast<double>(comparison_.recent.errors) / comparison_.recent_hours;
    const auto baseline_rate = static_cast<double>(comparison_.baseline.errors) / comparison_.baseline_hours;
    const auto ratio = rate / std::max(baseline_rate, 1 / comparison_.baseline_hours);
    if (ratio < min_ratio) return;
    add_finding("errors", std::min(max_weight, 0.5 + 0.1 * std::log2(ratio)),
                std::to_string(comparison_.recent.errors) + " errors " + recent_range_text() + ", " + format_rate(rate) +
                    " per hour; before: " + format_rate(baseline_rate) + " per hour.");
  }

  void detect_critical() {
    if (comparison_.recent.critical == 0) return;
    add_finding("critical", 0.8,
                std::to_string(comparison_.recent.critical) + " critical records " + recent_range_text() + '.');
  }

  void detect_new_messages() {
    constexpr std::uint64_t min_baseline = 100, min_count = 10;
    if (!comparison_.can_compare() || comparison_.baseline.total < min_baseline || messages_.count_error() != 0) return;
    std::size_t reported = 0;
    std::vector<const repeated_message*> by_severity;
    by_severity.reserve(report_.messages.size());
    for (const auto& entry : report_.messages) by_severity.push_back(&entry);
    std::sort(by_severity.begin(), by_severity.end(), [](const repeated_message* a, const repeated_message* b) {
      return a->max_level != b->max_level ? a->max_level > b->max_level : a < b;
    });
    for (const auto* candidate : by_severity) {
      const auto& message = *candidate;
      if (!message.first || *message.first < report_.recent_begin) continue;
      const double weight = !message.max_level                                  ? 0.35
                            : *message.max_level == records::severity::critical ? 0.9
                            : *message.max_level == records::severity::error    ? 0.7
                            : *message.max_level == records::severity::warning  ? 0.5
                                                                                : 0.35;
      if (weight < 0.5 && message.count < min_count) continue;
      if (++reported > max_new_messages) return;
      add_finding("new-message", weight,
                  "New since " + format_time(*message.first) + ", " + std::to_string(message.count) +
                      (message.count == 1 ? " time, " : " times, ") + (message.is_mixed ? "up to " : "") +
                      std::string(level_name(message.max_level)) + '.',
                  message.pattern);
    }
  }

  void detect_silence() {
    constexpr std::uint64_t min_records = 20;
    if (!report_.ends_now || !report_.has_newest || !report_.last || report_.total < min_records) return;
    // A single burst without a pause says nothing about the usual frequency.
    constexpr std::size_t min_parts = 10;
    if (!comparison_.has_empty_parts && comparison_.busy_parts < min_parts) return;
    const auto silence = now_ - *report_.last;
    if (silence < 10 * minute || silence < 3 * comparison_.max_gap) return;
    add_finding("silence", 0.6,
                "No record since " + format_time(*report_.last) + ", for " + format_duration(silence) +
                    "; the longest silence before was " + format_duration(comparison_.max_gap) + '.');
  }

  void detect_burst() {
    constexpr std::uint64_t min_records = 200;
    constexpr double min_ratio = 5;
    if (!comparison_.can_compare() || comparison_.recent.total < min_records) return;
    const auto rate = static_cast<double>(comparison_.recent.total) / comparison_.recent_hours;
    const auto baseline_rate = static_cast<double>(comparison_.baseline.total) / comparison_.baseline_hours;
    if (rate < min_ratio * std::max(baseline_rate, 1 / comparison_.baseline_hours)) return;
    add_finding("burst", 0.5,
                std::to_string(comparison_.recent.total) + " records " + recent_range_text() + ", " + format_rate(rate) +
                    " per hour; before: " + format_rate(baseline_rate) + " per hour.");
  }

  log_summary& report_;
  const message_counter& messages_;
  const records::instant now_;
  const rate_comparison comparison_;
};

}  // namespace

void add_findings(log_summary& report, const message_counter& messages, records::instant now) {
  if (report.has_times) anomaly_detector(report, messages, now).run();
  report.priority = report.total == 0 ? empty_priority : default_priority;
  for (const auto& anomaly : report.findings) report.priority = std::max(report.priority, anomaly.weight);
}

namespace {

using records::instant;

constexpr instant max_slices = 24;
constexpr std::size_t max_slice_messages = 300;
constexpr std::size_t max_templates = 20;
/// Records may be written this long after the time in them.
constexpr instant late_write_time = 10 * minute;
constexpr std::size_t untimed_records = 10'000;
/// A conservative guess, since the time limit of a summary must suffice for several slices.
constexpr double scan_bytes_per_second = 16e6;
constexpr double min_slices = 6;
/// A log that is not larger is read completely, even if this takes longer than the time limit.
constexpr std::uint64_t complete_bytes = 100'000'000;
/// Of the log, around the records of a slice.
constexpr std::uint64_t search_slack_bytes = 8u << 20;
constexpr std::array<instant, 13> slice_widths{minute,   5 * minute, 15 * minute, 30 * minute, hour,     2 * hour, 3 * hour,
                                               6 * hour, 12 * hour,  day,         7 * day,     30 * day, 365 * day};

instant narrower_width(instant width) noexcept {
  const auto* const position = std::lower_bound(slice_widths.begin(), slice_widths.end(), width);
  return position == slice_widths.begin() ? minute : *(position - 1);
}

instant floor_to(instant time, instant width) noexcept {
  const auto remainder = time % width;
  return time - (remainder < 0 ? remainder + width : remainder);
}

/// Properties of the log, derived from its newest records.
struct newest_records {
  bool has_records = false;
  std::vector<std::string> notes{};
  std::optional<instant> time{};
  double bytes_per_second = 0;
};

result<newest_records> read_newest(records::log_backend& backend, const records::read_budget& budget,
                                   const request_context& context) {
  constexpr std::size_t sample_size = 1000;
  records::log_query query;
  query.lines = sample_size;
  const auto page = backend.read(query, budget, context);
  if (!page) return tl::unexpected(page.error());
  newest_records newest;
  newest.notes = page->notes;
  if (page->records.empty()) return newest;
  newest.has_records = true;
  newest.time = page->records.front().time;
  const auto oldest = page->records.back().time;
  if (!newest.time || !oldest || page->records.size() < sample_size) return newest;
  std::uint64_t bytes = 0;
  for (const auto& record : page->records) bytes += record.text.size() + record.cut_bytes + 1;
  newest.bytes_per_second =
      static_cast<double>(bytes) / (static_cast<double>(std::max(*newest.time - *oldest, millisecond)) / second);
  return newest;
}

/// Computes one summary.
class summary_builder {
 public:
  summary_builder(records::log_backend& backend, const summary_request& request, const request_context& context)
      : backend_(backend), request_(request), context_(context) {
    // Leave time for the answer.
    constexpr std::chrono::milliseconds margin{200};
    if (context_.deadline != std::chrono::steady_clock::time_point::max()) context_.deadline -= margin;
  }

  result<log_summary> build() {
    const auto newest = read_newest(backend_, request_.budget, context_);
    if (!newest) return tl::unexpected(newest.error());
    for (const auto& note : newest->notes) add_note(note);
    choose_window(*newest);
    if (newest->has_records && !newest->time) {
      HONDANA_TRY(count_untimed());
    } else if (auto outcome = count_slices(); !outcome) {
      return tl::unexpected(std::move(outcome.error()));
    }
    merge_slices();
    add_findings(report_, messages_, request_.now);
    if (report_.messages.size() > max_templates) report_.messages.resize(max_templates);
    return std::move(report_);
  }

 private:
  void add_note(const std::string& text) {
    auto& notes = report_.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }
  void choose_window(const newest_records& newest) {
    const auto lookback = std::max(request_.lookback, minute);
    report_.ends_now = !request_.until;
    report_.end = request_.until.value_or(request_.now);
    if (report_.ends_now && !request_.since && newest.time && *newest.time < request_.now - lookback) {
      report_.ends_at_last_record = true;
      report_.end = *newest.time + 1;
    }
    report_.begin = std::min(request_.since.value_or(report_.end - lookback), report_.end);
    width_ = slice_width(report_.end - report_.begin);
    // If the log has more records than the budget allows, use narrower slices, so that the newest ones are complete.
    const auto time_left = std::chrono::duration<double>(request_.budget.deadline - monotonic_clock::now()).count();
    const auto budget = std::min(static_cast<double>(request_.budget.max_scanned_bytes),
                                 std::max(time_left * scan_bytes_per_second, static_cast<double>(complete_bytes)));
    while (width_ > minute && newest.bytes_per_second * (static_cast<double>(width_) / second) > budget / min_slices)
      width_ = narrower_width(width_);
    if (!request_.since) report_.begin = floor_to(report_.begin, width_);
    choose_recent(report_.begin);
  }

  /// An hour, or a quarter of the known range.
  void choose_recent(instant known_begin) {
    const auto part_width = std::max<instant>(width_ / static_cast<instant>(slice::part_count), 1);
    report_.recent_begin = floor_to(report_.end - std::min(hour, (report_.end - known_begin) / 4), part_width);
  }

  result<void> count_slices() {
    const bool is_cacheable = request_.cache != nullptr && !request_.since && !request_.until;
    for (auto begin = floor_to(report_.end - 1, width_); begin + width_ > report_.begin; begin -= width_) {
      if (auto cancellation = check_cancellation(context_); !cancellation && cancellation.error().code == errc::cancelled)
        return cancellation;
      const auto end = begin + width_;
      auto counted = is_cacheable ? request_.cache->find(begin, end) : nullptr;
      if (!counted) {
        HONDANA_TRY(auto new_slice, count_slice(begin, end));
        counted = std::move(new_slice);
        if (is_cacheable && counted->is_complete && counted->is_cacheable && end + late_write_time <= request_.now)
          request_.cache->insert(counted);
      }
      report_.slices.insert(report_.slices.begin(), counted);
      if (counted->is_complete) continue;
      report_.is_complete = false;
      return {};
    }
    return {};
  }

  result<std::shared_ptr<const slice>> count_slice(instant begin, instant end) {
    auto counted = std::make_shared<slice>();
    counted->begin = begin;
    counted->end = end;
    const bool is_over_time = monotonic_clock::now() >= request_.budget.deadline && scanned_bytes_ >= complete_bytes;
    if (scanned_bytes_ >= request_.budget.max_scanned_bytes || is_over_time) return counted;
    auto budget = request_.budget;
    if (scanned_bytes_ < complete_bytes) budget.min_scanned_bytes = complete_bytes - scanned_bytes_ + search_slack_bytes;
    budget.max_scanned_bytes -= scanned_bytes_;
    const bool is_last = end >= report_.end;
    const auto count_end = is_last && report_.ends_now ? std::nullopt : std::optional(is_last ? report_.end : end);
    const auto walked = backend_.walk(std::max(begin, report_.begin), count_end, budget, context_,
                                      [this, &counted](const records::log_record& record) {
                                        scanned_bytes_ += record.text.size() + record.cut_bytes + 1;
                                        counted->add(record);
                                        return true;
                                      });
    if (!walked && walked.error().code != errc::timed_out) return tl::unexpected(walked.error());
    counted->is_complete = walked && walked->is_complete;
    if (walked) {
      counted->notes = walked->notes;
      counted->is_cacheable = walked->is_cacheable;
    }
    counted->messages.retain_most_frequent(is_last ? message_counter::default_max_templates : max_slice_messages);
    return counted;
  }

  result<void> count_untimed() {
    report_.has_times = false;
    records::log_query query;
    query.lines = untimed_records;
    const auto page = backend_.read(query, request_.budget, context_);
    if (!page) return tl::unexpected(page.error());
    auto counted = std::make_shared<slice>();
    for (auto record = page->records.rbegin(); record != page->records.rend(); ++record) counted->add(*record);
    counted->is_complete = !page->next;
    report_.is_complete = counted->is_complete;
    report_.notes.emplace_back("No timestamps were found in the newest records, so they are summarized without times.");
    report_.slices.push_back(std::move(counted));
    return {};
  }

  void merge_slices() {
    if (!report_.is_complete && report_.has_times) drop_incomplete_slice();
    for (const auto& counted : report_.slices) {
      for (const auto& note : counted->notes) add_note(note);
      report_.total += counted->total;
      report_.errors += counted->errors;
      for (std::size_t i = 0; i < counted->levels.size(); ++i) report_.levels[i] += counted->levels[i];
      if (counted->first && (!report_.first || *counted->first < *report_.first)) report_.first = counted->first;
      if (counted->last && (!report_.last || *counted->last > *report_.last)) report_.last = counted->last;
      messages_.add(counted->messages);
    }
    report_.messages = messages_.sorted();
    report_.count_error = messages_.count_error();
    // Records dated ahead of the clock count as recent.
    if (report_.ends_now && report_.last && *report_.last >= report_.end) report_.end = *report_.last + 1;
  }

  /// Only the beginning of the oldest slice was read, which leaves a gap after it. Drop this slice.
  void drop_incomplete_slice() {
    if (report_.slices.size() > 1) {
      report_.slices.erase(report_.slices.begin());
      report_.begin = report_.slices.front()->begin;
      choose_recent(report_.begin);
      report_.notes.push_back("The log has more records than the limits allow: this summary goes back to " +
                              format_time(report_.begin) + '.');
    } else {
      report_.has_newest = false;
      report_.notes.emplace_back("The log has more records than the limits allow: the newest ones are not included.");
    }
  }

  records::log_backend& backend_;
  const summary_request& request_;
  request_context context_;
  log_summary report_;
  message_counter messages_{4 * message_counter::default_max_templates};
  instant width_ = hour;
  std::uint64_t scanned_bytes_ = 0;
};

}  // namespace

instant slice_width(instant window) noexcept {
  const auto* const narrowest =
      std::find_if(slice_widths.begin(), slice_widths.end(), [&](instant width) { return window <= max_slices * width; });
  if (narrowest != slice_widths.end()) return *narrowest;
  return (window / max_slices / day + 1) * day;
}

std::shared_ptr<const slice> slice_cache::find(instant begin, instant end) const {
  const std::lock_guard lock(mutex_);
  const auto match = slices_.find({begin, end});
  if (match == slices_.end() || monotonic_clock::now() - match->second.stored_at > max_age) return nullptr;
  return match->second.value;
}

void slice_cache::insert(std::shared_ptr<const slice> counted) {
  const std::lock_guard lock(mutex_);
  const std::pair key(counted->begin, counted->end);
  slices_[key] = {std::move(counted), monotonic_clock::now()};
  // The range moves forward, so remove the oldest slice.
  if (slices_.size() > max_entries) slices_.erase(slices_.begin());
}

result<log_summary> summarize(records::log_backend& backend, const summary_request& request, const request_context& context) {
  return summary_builder(backend, request, context).build();
}

}  // namespace hondana::logs
