/// One question after the other.
#include "sources/logs/unusual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "sources/logs/moment.hpp"

namespace hondana::logs {
namespace {

constexpr double usual_priority = 0.3;
constexpr double empty_priority = 0.1;
constexpr double most_weight = 0.95;
constexpr std::size_t told_messages = 5;

/// The recent part and what was before.
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
  // A log that began within the window has nothing to be held against before.
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
  /// The greatest weight first; of equal ones in the order in which they are told.
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
    // One burst without a pause says nothing about how often something comes.
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

}  // namespace hondana::logs
