/// The summary of a log: counts by time slice and severity, frequent messages, and what is unusual.
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

/// What came in [begin, end). The last one of a window takes what is later, too.
struct slice {
  static constexpr std::size_t parts_count = 60;

  records::instant begin = 0, end = 0;
  bool is_whole = false;  ///< All that can be read of it was gone through.
  std::vector<std::string> remarks{};
  bool is_lasting = true;  ///< See `records::walk_end`.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;                            ///< And what is graver.
  std::array<std::uint64_t, severities + 1> levels{};  ///< The last: records without one.
  std::optional<records::instant> first{}, last{};
  struct part {
    std::uint64_t total = 0, errors = 0, critical = 0;
  };
  std::array<part, parts_count> parts{};  ///< Of equal lengths.
  message_counter messages{};

  [[nodiscard]] records::instant part_begin(std::size_t number) const noexcept {
    return begin + (end - begin) * static_cast<records::instant>(number) / static_cast<records::instant>(parts_count);
  }
  void add(const records::record& one);
};

/// Something that is not as it was before, with what shows it.
struct finding {
  std::string kind;       ///< "errors", "critical", "new-message", "silence", "burst".
  double weight = 0;      ///< 0 to 1; see `summary.cpp`.
  std::string text;       ///< A sentence with the figures.
  std::string message{};  ///< The template that it is about, if it is about one.
};

struct summary {
  records::instant begin = 0, end = 0;  ///< What it is about.
  records::instant recent_begin = 0;    ///< The end of it, which is held against the rest.
  bool is_open = true;                  ///< It ends now.
  bool is_moved = false;                ///< Nothing had come for so long that it ends with the last record instead.
  bool has_times = true;                ///< Without times it is about the newest records.
  std::vector<std::shared_ptr<const slice>> slices{};  ///< The oldest first; as far back as was gone through.
  bool is_whole = true;                                ///< All that can be read of it was gone through.
  bool has_newest = true;                              ///< It was gone through up to its end.
  std::uint64_t total = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, severities + 1> levels{};
  std::optional<records::instant> first{}, last{};  ///< In what was gone through.
  std::vector<repeated> messages{};                 ///< The most frequent first.
  std::uint64_t count_error = 0;                    ///< See `message_counter::error`.
  std::vector<finding> unusual{};                   ///< The weightiest first.
  double priority = 0;
  std::vector<std::string> remarks{};
};

/// What was counted before; for one log. Threads: any.
class kept_slices {
 public:
  /// Null: it is not there, or too old.
  [[nodiscard]] std::shared_ptr<const slice> find(records::instant begin, records::instant end) const;
  void keep(std::shared_ptr<const slice> one);

 private:
  static constexpr std::size_t most = 32;
  /// A log that was truncated or written to late is counted anew then.
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
  records::instant look_back = 0;  ///< Without `since`.
  records::instant now = 0;
  records::budget most{};
  kept_slices* kept = nullptr;  ///< May be null.
};

/// Goes through a log from its newest stretch back, as far as the budget goes. Errors: of the log.
[[nodiscard]] result<summary> summarise(records::log& of, const summary_request& what, const call& by);

/// How long a slice of a window is.
[[nodiscard]] records::instant slice_width(records::instant window) noexcept;

}  // namespace hondana::logs
