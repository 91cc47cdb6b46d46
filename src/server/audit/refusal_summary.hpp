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
class refusals {
 public:
  using clock = monotonic_clock;
  static constexpr std::chrono::seconds window{1};
  /// Number of callers that are counted separately.
  static constexpr std::size_t most_callers = 1024;
  /// Number of callers of one network that are counted separately, because a network has many addresses.
  static constexpr std::size_t most_of_network = 8;

  struct counted {
    audit_decision what;  ///< The last of them, without members that differ between them.
    std::uint64_t times = 0;
  };

  /// Whether to write a record for it. If not, it is counted with others of the same caller, reason and status.
  [[nodiscard]] bool is_first(const audit_decision& what, clock::time_point now);
  /// The counts whose window has ended, to be recorded now. `all`: all counts.
  [[nodiscard]] std::vector<counted> take(clock::time_point now, bool all);
  /// When to call `take` next; max if there is nothing to count.
  [[nodiscard]] clock::time_point due() const;

 private:
  using kind = std::tuple<std::string, std::string, std::string, int>;  // network, identity, reason, status
  struct window_of {
    clock::time_point since;
    std::string address;  // of the first one
    counted all;
  };
  [[nodiscard]] bool has_enough_of(const std::string& network) const;

  mutable std::mutex mutex_;
  std::map<kind, window_of> windows_;
};

}  // namespace hondana::audit
