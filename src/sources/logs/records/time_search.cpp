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
constexpr std::uint64_t max_probe_bytes = 1u << 20;  // how far to search for a time
constexpr std::size_t probe_count = 64;
constexpr std::uint64_t small_file_bytes = 4u << 20;  // smaller files are read completely
constexpr std::uint64_t precision_bytes = 64u << 10;
constexpr instant time_tolerance = 1'000'000;  // smaller differences occur between threads

struct located_time {
  std::uint64_t offset = 0;
  instant time = 0;
};

/// Finds times of records at given positions.
class time_prober {
 public:
  explicit time_prober(const log_file& file) : file_(file) {}

  /// The first record with a time that begins after `start` and before `limit`. Searches at most `max_probe_bytes`.
  result<std::optional<located_time>> probe(std::uint64_t start, std::uint64_t limit) {
    limit = std::min({limit, file_.end, start + max_probe_bytes});
    for (auto begin = start; begin < limit; begin += probe_bytes) {
      // Include the byte before, and the rest of a line that begins near the end.
      const auto base = begin > 0 ? begin - 1 : 0;
      const auto end = std::min(begin + probe_bytes + timestamp_parser::max_line_bytes, file_.end);
      bytes_.resize(static_cast<std::size_t>(end - base));
      HONDANA_TRY(const auto count, file_.bytes->read(base, std::span(bytes_)));
      const auto text = std::string_view(bytes_).substr(0, count);
      auto offset = begin == 0 ? 0 : std::min(text.find('\n'), text.size() - 1) + 1;
      while (offset < text.size() && base + offset < std::min(begin + probe_bytes, limit)) {
        const auto line = text.substr(offset);
        // Only lines that begin a record count: times also occur inside records.
        if (const auto timestamp = file_.timestamps.find_in_line(line);
            timestamp && file_.framing.is_record_start(line, text.substr(0, offset)))
          return std::optional(located_time{base + offset, timestamp->time});
        offset = std::min(text.find('\n', offset), text.size() - 1) + 1;
      }
    }
    return std::optional<located_time>();
  }

 private:
  const log_file& file_;
  std::string bytes_;
};

/// How to treat a long part without times, so that it stays in the range: as late when searching the beginning of the range, as
/// early when searching its end.
enum class untimed_side : std::uint8_t { late, early };

/// Bisects between a position that is before `time` and one that is not. Returns a position at or before the first record that
/// is not.
result<std::uint64_t> bisect(time_prober& prober, std::uint64_t low, std::uint64_t high, instant time, untimed_side untimed,
                             const request_context& context) {
  while (high - low > precision_bytes) {
    HONDANA_TRY(check_cancellation(context));
    const auto middle = low + (high - low) / 2;
    HONDANA_TRY(const auto probed, prober.probe(middle, high));
    if (probed ? probed->time >= time : untimed == untimed_side::late) {
      high = middle;
    } else if (!probed) {
      low = middle;
    } else {
      low = std::max(probed->offset, low + 1);
    }
  }
  return low;
}

}  // namespace

std::optional<instant> find_first_time(std::string_view front, const timestamp_parser& timestamps) {
  while (!front.empty()) {
    if (const auto timestamp = timestamps.find_in_line(front)) return timestamp->time;
    front.remove_prefix(std::min(front.find('\n'), front.size() - 1) + 1);
  }
  return std::nullopt;
}

bool begins_after(const log_file& file, instant time) {
  const auto first_time = find_first_time(file.opened.front, file.timestamps);
  return first_time && *first_time >= time + order_slack &&
         *first_time <= file.opened.listed.stamp.modified / 1000 + order_slack;
}

result<byte_range> find_time_range(const log_file& file, const std::optional<instant>& since,
                                   const std::optional<instant>& until, const request_context& context) {
  byte_range range{0, file.end, false};
  if ((!since && !until) || file.end <= small_file_bytes) return range;
  time_prober prober(file);
  std::vector<located_time> samples;
  for (std::size_t i = 0; i < probe_count; ++i) {
    HONDANA_TRY(check_cancellation(context));
    HONDANA_TRY(const auto probed, prober.probe(file.end / probe_count * i, file.end));
    if (!probed || (!samples.empty() && samples.back().offset == probed->offset)) continue;
    range.has_backward_times =
        range.has_backward_times || (!samples.empty() && probed->time + time_tolerance < samples.back().time);
    samples.push_back(*probed);
  }
  if (samples.empty()) return range;
  if (since) {
    const auto first_after =
        std::find_if(samples.begin(), samples.end(), [&](const located_time& sample) { return sample.time >= *since; });
    if (first_after != samples.begin()) {
      const auto high = first_after == samples.end() ? file.end : first_after->offset;
      HONDANA_TRY(const auto boundary,
                  bisect(prober, std::prev(first_after)->offset, high, *since, untimed_side::late, context));
      range.begin = boundary - std::min(boundary, time_slack_bytes);
    }
  }
  if (until) {
    const auto last_before =
        std::find_if(samples.rbegin(), samples.rend(), [&](const located_time& sample) { return sample.time < *until; });
    const auto low = last_before == samples.rend() ? 0 : last_before->offset;
    const auto high = last_before == samples.rbegin() ? file.end : std::prev(last_before)->offset;
    HONDANA_TRY(const auto boundary, bisect(prober, low, std::max(low, high), *until, untimed_side::early, context));
    range.end = std::min(file.end, boundary + precision_bytes + time_slack_bytes);
  }
  range.end = std::max(range.begin, range.end);
  return range;
}

}  // namespace hondana::records
