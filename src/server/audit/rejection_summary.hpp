/// Combines many rejections into few audit records.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

namespace hondana::audit {

/// Decides which rejections of messages that are not requests get a record, and counts the others. Such messages cost a client
/// almost nothing. With one record each, a client could displace all other records from the stored files. Threads: any.
class rejection_summary {
 public:
  using clock = monotonic_clock;
  /// How long rejections are counted for one record.
  static constexpr std::chrono::seconds window{1};
  /// Limit of separate counts. Beyond it, further rejections with the same reason and status share a count.
  static constexpr std::size_t max_callers = 1024;
  /// Limit of separate counts for one network, which may have many addresses. Beyond it, its further rejections share a count.
  static constexpr std::size_t max_per_network = 8;

  /// Rejections that share a count.
  struct counted_rejection {
    audit_decision decision;  ///< The last of them, without members that differ.
    std::uint64_t count = 0;
  };

  /// Returns true if the rejection is the first of its network, identity, reason and status: the caller must then write a
  /// record. Otherwise counts it, and returns false.
  [[nodiscard]] bool is_first(const audit_decision& decision, clock::time_point now);
  /// Returns the counts whose window has ended, to be recorded now, and resets them. `include_open`: all counts.
  [[nodiscard]] std::vector<counted_rejection> drain(clock::time_point now, bool include_open);
  /// When to call `drain` next; max if there are no counts.
  [[nodiscard]] clock::time_point next_due() const;

 private:
  using window_key =
      std::tuple<std::string, std::string, std::string, std::optional<int>>;  // network, identity, reason, status
  /// A count, and the window in which it is collected.
  struct caller_window {
    clock::time_point start;
    std::string address;  // of the first rejection
    counted_rejection counted;
  };
  [[nodiscard]] bool is_network_full(const std::string& network) const;

  mutable std::mutex mutex_;
  std::map<window_key, caller_window> windows_;
};

}  // namespace hondana::audit
