/// The summary of a log: counts by time slice and severity, frequent messages, and unusual observations.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/message_templates.hpp"
#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

inline constexpr std::size_t severity_count = 7;

[[nodiscard]] constexpr bool is_error(std::optional<records::severity> level) noexcept {
  return level && *level >= records::severity::error;
}

/// Counts of the records with times in [begin, end). The last slice of a range that ends now also has all later ones.
struct slice {
  static constexpr std::size_t part_count = 60;

  records::instant begin = 0, end = 0;  ///< Both 0: the records have no times.
  bool is_complete = false;             ///< All readable records were counted.
  std::vector<std::string> notes{};     ///< Remarks for people.
  bool is_cacheable = true;             ///< See `records::walk_result`.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;                                ///< Includes critical records.
  std::array<std::uint64_t, severity_count + 1> levels{};  ///< The last element counts records without a level.
  std::optional<records::instant> first{}, last{};         ///< Earliest and latest time of the records.
  records::instant max_gap = 0;                            ///< The longest time between two records.
  /// Counts of the records in a part of the slice. `errors` includes critical records.
  struct part {
    std::uint64_t total = 0, errors = 0, critical = 0;
  };
  std::array<part, part_count> parts{};  ///< Of equal length. The last one also has records after `end`.
  message_counter messages{};

  /// Returns when a part begins. With `part_count`: when the last part ends.
  [[nodiscard]] records::instant part_begin(std::size_t index) const noexcept {
    return begin + (end - begin) * static_cast<records::instant>(index) / static_cast<records::instant>(part_count);
  }
  /// Counts a record.
  void add(const records::log_record& record);
};

/// An unusual observation, with its evidence.
struct finding {
  std::string kind;       ///< "errors", "critical", "new-message", "silence", "burst".
  double weight = 0;      ///< Importance from 0 to 1; see `add_findings` in `summary.cpp`.
  std::string text;       ///< A sentence with the numbers.
  std::string message{};  ///< For "new-message": the template. Otherwise empty.
};

/// The summary of a log over a time range.
struct log_summary {
  records::instant begin = 0, end = 0;  ///< The time range.
  records::instant recent_begin = 0;    ///< Begin of the recent part, which is compared with the rest.
  bool ends_now = true;                 ///< No end was requested: the range ends now, unless `ends_at_last_record`.
  bool ends_at_last_record = false;     ///< There were no recent records, so the range ends with the last record.
  bool has_times = true;                ///< False: the newest records have no times, and only these were counted.
  std::vector<std::shared_ptr<const slice>> slices{};  ///< Oldest first. If not `has_newest`, they begin after `begin`.
  bool is_complete = true;                             ///< All readable records of the requested range were counted.
  bool has_newest = true;                              ///< Records were counted up to the end of the range.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, severity_count + 1> levels{};
  std::optional<records::instant> first{}, last{};  ///< Earliest and latest time of the counted records.
  std::vector<repeated_message> messages{};         ///< The most frequent first; at most 20.
  std::uint64_t count_error = 0;                    ///< See `message_counter::count_error`.
  std::vector<finding> findings{};                  ///< Highest weight first.
  double priority = 0;                              ///< 0 to 1: the highest weight, or a default value without findings.
  std::vector<std::string> notes{};                 ///< Remarks for people.
};

/// A cache of slices of one log. Threads: any.
class slice_cache {
 public:
  /// Finds the slice of exactly this range; null if it is not cached or was cached too long ago.
  [[nodiscard]] std::shared_ptr<const slice> find(records::instant begin, records::instant end) const;
  /// Adds or replaces a slice. If there are too many, removes the one with the earliest range.
  void insert(std::shared_ptr<const slice> counted);

 private:
  static constexpr std::size_t max_entries = 32;
  /// After this time, slices are counted again, since the log may have been truncated, or records added late.
  static constexpr std::chrono::minutes max_age{15};
  struct cached_slice {
    std::shared_ptr<const slice> value;
    std::chrono::steady_clock::time_point stored_at;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<records::instant, records::instant>, cached_slice> slices_;
};

/// The range and the limits of a summary.
struct summary_request {
  std::optional<records::instant> since{}, until{};  ///< Begin and end of the range. nullopt: use `lookback`; `now`.
  records::instant lookback = 0;  ///< Without `since`: length of the range in microseconds, at least a minute.
  records::instant now = 0;
  records::read_budget budget{};
  slice_cache* cache = nullptr;  ///< Used if neither `since` nor `until` is set. Null: none.
};

/// Summarizes a log: reads it from its newest slice backwards, as far as the budget allows. Errors: those of the log.
[[nodiscard]] result<log_summary> summarize(records::log_backend& backend, const summary_request& request,
                                            const request_context& context);

/// Returns the length of the slices for a time range of length `window`. Both are in microseconds.
[[nodiscard]] records::instant slice_width(records::instant window) noexcept;

}  // namespace hondana::logs
