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
#include "sources/logs/records/log.hpp"

namespace hondana::logs {

inline constexpr std::size_t severities = 7;

[[nodiscard]] constexpr bool is_error(std::optional<records::severity> level) noexcept {
  return level && *level >= records::severity::error;
}

/// Counts of the records with times in [begin, end). The last slice also has all later ones.
struct slice {
  static constexpr std::size_t parts_count = 60;

  records::instant begin = 0, end = 0;
  bool is_whole = false;  ///< All readable records were counted.
  std::vector<std::string> remarks{};
  bool is_lasting = true;  ///< See `records::walk_end`.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;                            ///< Includes critical records.
  std::array<std::uint64_t, severities + 1> levels{};  ///< The last element counts records without a level.
  std::optional<records::instant> first{}, last{};
  struct part {
    std::uint64_t total = 0, errors = 0, critical = 0;
  };
  std::array<part, parts_count> parts{};  ///< Of equal length.
  message_counter messages{};

  [[nodiscard]] records::instant part_begin(std::size_t number) const noexcept {
    return begin + (end - begin) * static_cast<records::instant>(number) / static_cast<records::instant>(parts_count);
  }
  void add(const records::record& one);
};

/// An unusual observation, with its evidence.
struct finding {
  std::string kind;       ///< "errors", "critical", "new-message", "silence", "burst".
  double weight = 0;      ///< 0 to 1; see `summary.cpp`.
  std::string text;       ///< A sentence with the numbers.
  std::string message{};  ///< The template that it is about, if any.
};

/// The summary of a log over a time range.
struct summary {
  records::instant begin = 0, end = 0;  ///< The time range.
  records::instant recent_begin = 0;    ///< Begin of the recent part, which is compared with the rest.
  bool is_open = true;                  ///< The range ends now.
  bool is_moved = false;                ///< There were no recent records, so the range ends with the last record.
  bool has_times = true;                ///< If false, the summary covers the newest records.
  std::vector<std::shared_ptr<const slice>> slices{};  ///< Oldest first. May not go back to `begin`.
  bool is_whole = true;                                ///< All readable records of the range were counted.
  bool has_newest = true;                              ///< Records were counted up to the end of the range.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, severities + 1> levels{};
  std::optional<records::instant> first{}, last{};  ///< Of the counted records.
  std::vector<repeated> messages{};                 ///< Most frequent first.
  std::uint64_t count_error = 0;                    ///< See `message_counter::error`.
  std::vector<finding> unusual{};                   ///< Highest weight first.
  double priority = 0;
  std::vector<std::string> remarks{};
};

/// A cache of slices of one log. Threads: any.
class kept_slices {
 public:
  /// Null if the slice is not cached or is too old.
  [[nodiscard]] std::shared_ptr<const slice> find(records::instant begin, records::instant end) const;
  void keep(std::shared_ptr<const slice> one);

 private:
  static constexpr std::size_t most = 32;
  /// After this time, slices are counted again, since the log may have been truncated, or records added late.
  static constexpr std::chrono::minutes longest{15};
  struct kept {
    std::shared_ptr<const slice> what;
    std::chrono::steady_clock::time_point since;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<records::instant, records::instant>, kept> all_;
};

struct summary_request {
  std::optional<records::instant> since{}, until{};
  records::instant look_back = 0;  ///< Used without `since`.
  records::instant now = 0;
  records::budget most{};
  kept_slices* kept = nullptr;  ///< May be null.
};

/// Reads a log from its newest slice backwards, as far as the budget allows. Errors: of the log.
[[nodiscard]] result<summary> summarise(records::log& of, const summary_request& what, const call& by);

/// The length of a slice for a time range.
[[nodiscard]] records::instant slice_width(records::instant window) noexcept;

}  // namespace hondana::logs
