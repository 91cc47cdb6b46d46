/// Combines numerous rejections in few audit records.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

namespace hondana::audit {

/// Counts rejections of messages that are not requests, which cost a client almost nothing. With one record each, a client
/// could displace all other records from the stored files. Threads: any.
class rejection_summary {
 public:
  using clock = monotonic_clock;
  static constexpr std::chrono::seconds window{1};
  /// Number of callers that are counted separately.
  static constexpr std::size_t max_callers = 1024;
  /// Number of callers of one network that are counted separately, because a network has many addresses.
  static constexpr std::size_t max_per_network = 8;

  struct counted_rejection {
    audit_decision decision;  ///< The last of them, without members that differ between them.
    std::uint64_t count = 0;
  };

  /// Whether to write a record for it. If not, it is counted with others of the same caller, reason and status.
  [[nodiscard]] bool is_first(const audit_decision& decision, clock::time_point now);
  /// The counts whose window has ended, to be recorded now. `include_open`: all counts.
  [[nodiscard]] std::vector<counted_rejection> drain(clock::time_point now, bool include_open);
  /// When to call `drain` next; max if there is nothing to count.
  [[nodiscard]] clock::time_point next_due() const;

 private:
  using window_key = std::tuple<std::string, std::string, std::string, int>;  // network, identity, reason, status
  struct caller_window {
    clock::time_point start;
    std::string address;  // of the first one
    counted_rejection counted;
  };
  [[nodiscard]] bool is_network_full(const std::string& network) const;

  mutable std::mutex mutex_;
  std::map<window_key, caller_window> windows_;
};

}  // namespace hondana::audit
