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

void slice::add(const records::record& one) {
  ++total;
  const bool is_bad = is_error(one.level);
  if (is_bad) ++errors;
  ++levels[one.level ? static_cast<std::size_t>(*one.level) : severities];
  messages.add(one);
  if (!one.time) return;
  if (!first || *one.time < *first) first = one.time;
  if (!last || *one.time > *last) last = one.time;
  if (end <= begin) return;
  const auto since = std::clamp<records::instant>(*one.time - begin, 0, end - begin - 1);
  auto& at = parts[static_cast<std::size_t>(since * static_cast<records::instant>(parts_count) / (end - begin))];
  ++at.total;
  if (is_bad) ++at.errors;
  if (one.level == records::severity::critical) ++at.critical;
}

/// Sets `unusual` and `priority`. Compares the recent part of the range (an hour, or a quarter of ranges shorter than four
/// hours) with the rest.
///
/// - errors: at least 5, and at least three times as often as before. Weight 0.5 + 0.1 × log2(times), at most 0.95. The earlier
/// rate counts as at least one error in all the time before.
/// - critical: any critical record. Weight 0.8.
/// - new-message: a template that did not occur before. Weight: critical 0.9, error 0.7, warning 0.5. For others 0.35, with at
/// least 10 records. Requires 100 earlier records, and that no template was removed from the counter. At most five.
/// - silence: no record for at least ten minutes and three times the longest pause in the range. Weight 0.6. Requires a range
/// that ends now, was read to its end and has at least 20 records. Also requires an earlier pause, or records in ten parts of
/// its slices.
/// - burst: at least 200 records, five times as often as before. Weight 0.5.
///
/// The priority is the greatest of these weights. Without any, it is 0.3, or 0.1 for a log without records.
void find_unusual(summary& in, const message_counter& messages, records::instant now);

namespace {

constexpr double usual_priority = 0.3;
constexpr double empty_priority = 0.1;
constexpr double most_weight = 0.95;
constexpr std::size_t told_messages = 5;

/// The recent part of a range and the part before.
struct halves {
  slice::part recent{}, before{};
  double recent_hours = 0, before_hours = 0;
  records::instant longest_gap = 0;
  std::size_t busy_parts = 0;

  [[nodiscard]] bool can_compare() const noexcept { return before_hours >= recent_hours && recent_hours > 0; }
};

void add_part(slice::part& to, const slice::part& from) noexcept {
  to.total += from.total;
  to.errors += from.errors;
  to.critical += from.critical;
}

halves halves_of(const summary& in) {
  halves out;
  std::optional<records::instant> last_end;
  for (const auto& one : in.slices) {
    for (std::size_t i = 0; i < slice::parts_count; ++i) {
      const auto begin = one->part_begin(i);
      add_part(begin >= in.recent_begin ? out.recent : out.before, one->parts[i]);
      if (one->parts[i].total == 0) continue;
      ++out.busy_parts;
      if (last_end) out.longest_gap = std::max(out.longest_gap, begin - *last_end);
      last_end = one->part_begin(i + 1);
    }
  }
  const auto begin = in.slices.empty() ? in.end : in.slices.front()->begin;
  // If the log began within the range, there is nothing to compare with before that.
  const auto known_from = in.first ? std::max(begin, *in.first) : begin;
  out.recent_hours = static_cast<double>(in.end - std::max(in.recent_begin, begin)) / static_cast<double>(hour);
  out.before_hours = std::max(0.0, static_cast<double>(in.recent_begin - known_from) / static_cast<double>(hour));
  return out;
}

std::string rate_text(double a_hour) {
  char out[32];
  std::snprintf(out, sizeof out, a_hour >= 10 || a_hour == 0 ? "%.0f" : "%.1f", a_hour);
  return out;
}

std::string_view level_name(std::optional<records::severity> level) { return level ? records::name_of(*level) : "no level"; }

class questions {
 public:
  questions(summary& in, const message_counter& messages, records::instant now)
      : in_(in), messages_(messages), now_(now), compared_(halves_of(in)) {}

  void ask_all() {
    errors();
    critical();
    new_messages();
    silence();
    burst();
  }

 private:
  /// Adds a finding. Greatest weight first; equal ones stay in the order of the calls.
  void tell(std::string kind, double weight, std::string text, std::string message = {}) {
    finding told{std::move(kind), std::round(weight * 100) / 100, std::move(text), std::move(message)};
    const auto behind = std::upper_bound(in_.unusual.begin(), in_.unusual.end(), told,
                                         [](const finding& a, const finding& b) { return a.weight > b.weight; });
    in_.unusual.insert(behind, std::move(told));
  }
  [[nodiscard]] std::string recently() const {
    return "in the last " + text_of_span(in_.end - in_.recent_begin) + (in_.is_moved ? " of the log" : "");
  }

  void errors() {
    constexpr std::uint64_t least = 5;
    constexpr double least_times = 3;
    if (!compared_.can_compare() || compared_.recent.errors < least) return;
    const auto rate = static_cast<double>(compared_.recent.errors) / compared_.recent_hours;
    const auto before = static_cast<double>(compared_.before.errors) / compared_.before_hours;
    const auto times = rate / std::max(before, 1 / compared_.before_hours);
    if (times < least_times) return;
    tell("errors", std::min(most_weight, 0.5 + 0.1 * std::log2(times)),
         std::to_string(compared_.recent.errors) + " errors " + recently() + ", " + rate_text(rate) +
             " per hour; before: " + rate_text(before) + " per hour.");
  }

  void critical() {
    if (compared_.recent.critical == 0) return;
    tell("critical", 0.8, std::to_string(compared_.recent.critical) + " critical records " + recently() + '.');
  }

  void new_messages() {
    constexpr std::uint64_t least_before = 100, least_of_others = 10;
    if (!compared_.can_compare() || compared_.before.total < least_before || messages_.error() != 0) return;
    std::size_t told = 0;
    std::vector<const repeated*> all;
    all.reserve(in_.messages.size());
    for (const auto& one : in_.messages) all.push_back(&one);
    std::sort(all.begin(), all.end(),
              [](const repeated* a, const repeated* b) { return a->gravest != b->gravest ? a->gravest > b->gravest : a < b; });
    for (const auto* each : all) {
      const auto& one = *each;
      if (!one.first || *one.first < in_.recent_begin) continue;
      const double weight = !one.gravest                                  ? 0.35
                            : *one.gravest == records::severity::critical ? 0.9
                            : *one.gravest == records::severity::error    ? 0.7
                            : *one.gravest == records::severity::warning  ? 0.5
                                                                          : 0.35;
      if (weight < 0.5 && one.count < least_of_others) continue;
      if (++told > told_messages) return;
      tell("new-message", weight,
           "New since " + text_of(*one.first) + ", " + std::to_string(one.count) + (one.count == 1 ? " time, " : " times, ") +
               (one.is_mixed ? "up to " : "") + std::string(level_name(one.gravest)) + '.',
           one.pattern);
    }
  }

  void silence() {
    constexpr std::uint64_t least = 20;
    if (!in_.is_open || !in_.has_newest || !in_.last || in_.total < least) return;
    // A single burst without a pause says nothing about the usual frequency.
    constexpr std::size_t least_parts = 10;
    if (compared_.longest_gap == 0 && compared_.busy_parts < least_parts) return;
    const auto quiet = now_ - *in_.last;
    if (quiet < 10 * minute || quiet < 3 * compared_.longest_gap) return;
    tell("silence", 0.6,
         "No record since " + text_of(*in_.last) + ", for " + text_of_span(quiet) + "; the longest silence before was " +
             text_of_span(compared_.longest_gap) + '.');
  }

  void burst() {
    constexpr std::uint64_t least = 200;
    constexpr double least_times = 5;
    if (!compared_.can_compare() || compared_.recent.total < least) return;
    const auto rate = static_cast<double>(compared_.recent.total) / compared_.recent_hours;
    const auto before = static_cast<double>(compared_.before.total) / compared_.before_hours;
    if (rate < least_times * std::max(before, 1 / compared_.before_hours)) return;
    tell("burst", 0.5,
         std::to_string(compared_.recent.total) + " records " + recently() + ", " + rate_text(rate) +
             " per hour; before: " + rate_text(before) + " per hour.");
  }

  summary& in_;
  const message_counter& messages_;
  const records::instant now_;
  const halves compared_;
};

}  // namespace

void find_unusual(summary& in, const message_counter& messages, records::instant now) {
  if (in.has_times) questions(in, messages, now).ask_all();
  in.priority = in.total == 0 ? empty_priority : usual_priority;
  for (const auto& one : in.unusual) in.priority = std::max(in.priority, one.weight);
}

namespace {

using records::instant;

constexpr instant most_slices = 24;
constexpr std::size_t kept_messages = 300;
constexpr std::size_t told_templates = 20;
/// Records may be written this long after the time in them.
constexpr instant writing_time = 10 * minute;
constexpr std::size_t untimed_records = 10'000;
/// A conservative guess, since the time limit of a summary must suffice for several slices.
constexpr double bytes_gone_through_a_second = 16e6;
constexpr double least_slices = 6;
constexpr std::array<instant, 13> slice_widths{minute,   5 * minute, 15 * minute, 30 * minute, hour,     2 * hour, 3 * hour,
                                               6 * hour, 12 * hour,  day,         7 * day,     30 * day, 365 * day};

instant narrower(instant width) noexcept {
  const auto* const at = std::lower_bound(slice_widths.begin(), slice_widths.end(), width);
  return at == slice_widths.begin() ? minute : *(at - 1);
}

instant floored(instant at, instant width) noexcept {
  const auto rest = at % width;
  return at - (rest < 0 ? rest + width : rest);
}

/// Properties of the log, derived from its newest records.
struct newest_records {
  bool is_there = false;
  std::vector<std::string> remarks{};
  std::optional<instant> time{};
  double bytes_a_second = 0;
};

result<newest_records> look_at_newest(records::log& in, const records::budget& most, const call& by) {
  constexpr std::size_t looked_at = 1000;
  records::query last;
  last.lines = looked_at;
  const auto page = in.read(last, most, by);
  if (!page) return tl::unexpected(page.error());
  newest_records out;
  out.remarks = page->remarks;
  if (page->records.empty()) return out;
  out.is_there = true;
  out.time = page->records.front().time;
  const auto oldest = page->records.back().time;
  if (!out.time || !oldest || page->records.size() < looked_at) return out;
  std::uint64_t bytes = 0;
  for (const auto& one : page->records) bytes += one.text.size() + one.cut + 1;
  out.bytes_a_second = static_cast<double>(bytes) / (static_cast<double>(std::max(*out.time - *oldest, millisecond)) / second);
  return out;
}

/// Computes one summary.
class summarising {
 public:
  summarising(records::log& in, const summary_request& what, const call& by) : log_(in), what_(what), by_(by) {}

  result<summary> run() {
    const auto newest = look_at_newest(log_, what_.most, by_);
    if (!newest) return tl::unexpected(newest.error());
    for (const auto& one : newest->remarks) remark(one);
    choose_window(*newest);
    if (newest->is_there && !newest->time) {
      HONDANA_TRY(take_untimed());
    } else if (auto done = take_slices(); !done) {
      return tl::unexpected(std::move(done.error()));
    }
    add_up();
    find_unusual(out_, messages_, what_.now);
    if (out_.messages.size() > told_templates) out_.messages.resize(told_templates);
    return std::move(out_);
  }

 private:
  void remark(const std::string& text) {
    auto& all = out_.remarks;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  void choose_window(const newest_records& newest) {
    const auto look_back = std::max(what_.look_back, minute);
    out_.is_open = !what_.until;
    out_.end = what_.until.value_or(what_.now);
    if (out_.is_open && !what_.since && newest.time && *newest.time < what_.now - look_back) {
      out_.is_moved = true;
      out_.end = *newest.time + 1;
    }
    out_.begin = std::min(what_.since.value_or(out_.end - look_back), out_.end);
    width_ = slice_width(out_.end - out_.begin);
    // If the log has more records than the budget allows, use narrower slices, so that the newest ones are complete.
    const auto time = std::chrono::duration<double>(what_.most.deadline - monotonic_clock::now()).count();
    const auto budget =
        std::min(static_cast<double>(what_.most.scanned_bytes), std::max(time, 0.0) * bytes_gone_through_a_second);
    while (width_ > minute && newest.bytes_a_second * (static_cast<double>(width_) / second) > budget / least_slices)
      width_ = narrower(width_);
    if (!what_.since) out_.begin = floored(out_.begin, width_);
    choose_recent(out_.begin);
  }

  /// An hour, or a quarter of the known range.
  void choose_recent(instant known_from) {
    const auto part = std::max<instant>(width_ / static_cast<instant>(slice::parts_count), 1);
    out_.recent_begin = floored(out_.end - std::min(hour, (out_.end - known_from) / 4), part);
  }

  result<void> take_slices() {
    const bool may_keep = what_.kept != nullptr && !what_.since && !what_.until;
    for (auto begin = floored(out_.end - 1, width_); begin + width_ > out_.begin; begin -= width_) {
      if (auto wanted = still_wanted(by_); !wanted && wanted.error().code == errc::cancelled) return wanted;
      const auto end = begin + width_;
      auto one = may_keep ? what_.kept->find(begin, end) : nullptr;
      if (!one) {
        HONDANA_TRY(auto counted, count(begin, end));
        one = std::move(counted);
        if (may_keep && one->is_whole && one->is_lasting && end + writing_time <= what_.now) what_.kept->keep(one);
      }
      out_.slices.insert(out_.slices.begin(), one);
      if (one->is_whole) continue;
      out_.is_whole = false;
      return {};
    }
    return {};
  }

  result<std::shared_ptr<const slice>> count(instant begin, instant end) {
    auto one = std::make_shared<slice>();
    one->begin = begin;
    one->end = end;
    if (scanned_ >= what_.most.scanned_bytes || monotonic_clock::now() >= what_.most.deadline) return one;
    auto most = what_.most;
    most.scanned_bytes -= scanned_;
    const bool is_last = end >= out_.end;
    const auto until = is_last && out_.is_open ? std::nullopt : std::optional(is_last ? out_.end : end);
    const auto gone_through =
        log_.walk(std::max(begin, out_.begin), until, most, by_, [this, &one](const records::record& record) {
          scanned_ += record.text.size() + record.cut + 1;
          one->add(record);
          return true;
        });
    if (!gone_through && gone_through.error().code != errc::timed_out) return tl::unexpected(gone_through.error());
    one->is_whole = gone_through && gone_through->is_whole;
    if (gone_through) {
      one->remarks = gone_through->remarks;
      one->is_lasting = gone_through->is_lasting;
    }
    one->messages.keep_most_frequent(is_last ? message_counter::usual_most : kept_messages);
    return one;
  }

  result<void> take_untimed() {
    out_.has_times = false;
    records::query last;
    last.lines = untimed_records;
    const auto page = log_.read(last, what_.most, by_);
    if (!page) return tl::unexpected(page.error());
    auto one = std::make_shared<slice>();
    for (auto record = page->records.rbegin(); record != page->records.rend(); ++record) one->add(*record);
    one->is_whole = !page->next;
    out_.is_whole = one->is_whole;
    out_.remarks.emplace_back("No timestamps were found in the newest records, so they are summarized without times.");
    out_.slices.push_back(std::move(one));
    return {};
  }

  void add_up() {
    if (!out_.is_whole && out_.has_times) cut_off();
    for (const auto& one : out_.slices) {
      for (const auto& what : one->remarks) remark(what);
      out_.total += one->total;
      out_.errors += one->errors;
      for (std::size_t i = 0; i < one->levels.size(); ++i) out_.levels[i] += one->levels[i];
      if (one->first && (!out_.first || *one->first < *out_.first)) out_.first = one->first;
      if (one->last && (!out_.last || *one->last > *out_.last)) out_.last = one->last;
      messages_.add(one->messages);
    }
    out_.messages = messages_.all();
    out_.count_error = messages_.error();
    // Records dated ahead of the clock count as recent.
    if (out_.is_open && out_.last && *out_.last >= out_.end) out_.end = *out_.last + 1;
  }

  /// Only the beginning of the oldest slice was read, which leaves a gap after it. Drop this slice.
  void cut_off() {
    if (out_.slices.size() > 1) {
      out_.slices.erase(out_.slices.begin());
      out_.begin = out_.slices.front()->begin;
      choose_recent(out_.begin);
      out_.remarks.push_back("The log has more records than the limits allow: this summary goes back to " +
                             text_of(out_.begin) + '.');
    } else {
      out_.has_newest = false;
      out_.remarks.emplace_back("The log has more records than the limits allow: the newest ones are not included.");
    }
  }

  records::log& log_;
  const summary_request& what_;
  const call& by_;
  summary out_;
  message_counter messages_{4 * message_counter::usual_most};
  instant width_ = hour;
  std::uint64_t scanned_ = 0;
};

}  // namespace

instant slice_width(instant window) noexcept {
  const auto* const found =
      std::find_if(slice_widths.begin(), slice_widths.end(), [&](instant width) { return window <= most_slices * width; });
  if (found != slice_widths.end()) return *found;
  return (window / most_slices / day + 1) * day;
}

std::shared_ptr<const slice> kept_slices::find(instant begin, instant end) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find({begin, end});
  if (found == all_.end() || monotonic_clock::now() - found->second.since > longest) return nullptr;
  return found->second.what;
}

void kept_slices::keep(std::shared_ptr<const slice> one) {
  const std::lock_guard lock(mutex_);
  const std::pair key(one->begin, one->end);
  all_[key] = {std::move(one), monotonic_clock::now()};
  // The range moves forward, so remove the oldest slice.
  if (all_.size() > most) all_.erase(all_.begin());
}

result<summary> summarise(records::log& of, const summary_request& what, const call& by) {
  return summarising(of, what, by).run();
}

}  // namespace hondana::logs
