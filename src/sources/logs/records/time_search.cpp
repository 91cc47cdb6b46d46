/// Finds the part of a log file that can hold records of a time range, by bisection.
#include "sources/logs/records/time_search.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/caller_checks.hpp"

namespace hondana::records {
namespace {

constexpr std::uint64_t probe_bytes = 16u << 10;
constexpr std::uint64_t far_bytes = 1u << 20;  // how far to search for a time
constexpr std::size_t places = 64;
constexpr std::uint64_t small = 4u << 20;  // smaller files are read completely
constexpr std::uint64_t near_enough = 64u << 10;
constexpr instant slip = 1'000'000;  // smaller differences occur between threads

struct known_time {
  std::uint64_t at = 0;
  instant time = 0;
};

/// Finds times of records at given positions.
class prober {
 public:
  explicit prober(const member& in) : in_(in) {}

  /// The first record with a time that begins after `from` and before `limit`. Searches at most `far_bytes`.
  result<std::optional<known_time>> look(std::uint64_t from, std::uint64_t limit) {
    limit = std::min({limit, in_.end, from + far_bytes});
    for (auto begin = from; begin < limit; begin += probe_bytes) {
      // Include the byte before, and the rest of a line that begins near the end.
      const auto base = begin > 0 ? begin - 1 : 0;
      const auto end = std::min(begin + probe_bytes + time_reader::looked_at, in_.end);
      bytes_.resize(static_cast<std::size_t>(end - base));
      HONDANA_TRY(const auto got, in_.bytes->read(base, std::span(bytes_)));
      const auto text = std::string_view(bytes_).substr(0, got);
      auto at = begin == 0 ? 0 : std::min(text.find('\n'), text.size() - 1) + 1;
      while (at < text.size() && base + at < std::min(begin + probe_bytes, limit)) {
        const auto line = text.substr(at);
        // Only lines that begin a record count: times also occur inside records.
        if (const auto found = in_.times.of_line(line); found && in_.frame.begins(line))
          return std::optional(known_time{base + at, found->time});
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
      }
    }
    return std::optional<known_time>();
  }

 private:
  const member& in_;
  std::string bytes_;
};

/// How to treat a long part without times, so that it stays in the range: as late when searching the beginning of the range, as
/// early when searching its end.
enum class untimed : std::uint8_t { late, early };

/// Bisects between a position that is before `when` and one that is not. Returns a position at or before the first record that
/// is not.
result<std::uint64_t> halve(prober& with, std::uint64_t early, std::uint64_t late, instant when, untimed is, const call& by) {
  while (late - early > near_enough) {
    HONDANA_TRY(still_wanted(by));
    const auto middle = early + (late - early) / 2;
    HONDANA_TRY(const auto found, with.look(middle, late));
    if (found ? found->time >= when : is == untimed::late) {
      late = middle;
    } else if (!found) {
      early = middle;
    } else {
      early = std::max(found->at, early + 1);
    }
  }
  return early;
}

}  // namespace

std::optional<instant> first_time(std::string_view front, const time_reader& times) {
  while (!front.empty()) {
    if (const auto found = times.of_line(front)) return found->time;
    front.remove_prefix(std::min(front.find('\n'), front.size() - 1) + 1);
  }
  return std::nullopt;
}

bool begins_behind(const member& in, instant when) {
  const auto first = first_time(in.of.front, in.times);
  return first && *first >= when + order_slack && *first <= in.of.listed.facts.modified / 1000 + order_slack;
}

result<stretch> stretch_of(const member& in, const std::optional<instant>& since, const std::optional<instant>& until,
                           const call& by) {
  stretch out{0, in.end, false};
  if ((!since && !until) || in.end <= small) return out;
  prober with(in);
  std::vector<known_time> known;
  for (std::size_t i = 0; i < places; ++i) {
    HONDANA_TRY(still_wanted(by));
    HONDANA_TRY(const auto found, with.look(in.end / places * i, in.end));
    if (!found || (!known.empty() && known.back().at == found->at)) continue;
    out.goes_back = out.goes_back || (!known.empty() && found->time + slip < known.back().time);
    known.push_back(*found);
  }
  if (known.empty()) return out;
  if (since) {
    const auto first = std::find_if(known.begin(), known.end(), [&](const known_time& one) { return one.time >= *since; });
    if (first != known.begin()) {
      const auto late = first == known.end() ? in.end : first->at;
      HONDANA_TRY(const auto found, halve(with, std::prev(first)->at, late, *since, untimed::late, by));
      out.begin = found - std::min(found, time_slack_bytes);
    }
  }
  if (until) {
    const auto last = std::find_if(known.rbegin(), known.rend(), [&](const known_time& one) { return one.time < *until; });
    const auto early = last == known.rend() ? 0 : last->at;
    const auto late = last == known.rbegin() ? in.end : std::prev(last)->at;
    HONDANA_TRY(const auto found, halve(with, early, std::max(early, late), *until, untimed::early, by));
    out.end = std::min(in.end, found + near_enough + time_slack_bytes);
  }
  out.end = std::max(out.begin, out.end);
  return out;
}

}  // namespace hondana::records
