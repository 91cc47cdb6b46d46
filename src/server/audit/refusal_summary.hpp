/// Sums up rejections that come by the thousand in few audit records.
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

/// Counts what is refused before there is a request, which costs nobody a token or much else: a record each would let anybody
/// push everything else out of the files that are kept. Threads: any.
class refusals {
 public:
  using clock = monotonic_clock;
  static constexpr std::chrono::seconds window{1};
  /// Of so many callers at once each is counted apart,
  static constexpr std::size_t most_callers = 1024;
  /// and of those of one network so many: whoever has one can make up addresses.
  static constexpr std::size_t most_of_network = 8;

  struct counted {
    audit_decision what;  ///< The last of them, without what only it was about.
    std::uint64_t times = 0;
  };

  /// Whether it is to have a record of its own; otherwise it is counted with others of the caller, reason and status.
  [[nodiscard]] bool is_first(const audit_decision& what, clock::time_point now);
  /// What was counted and is to be recorded by now; `all`: what was counted.
  [[nodiscard]] std::vector<counted> take(clock::time_point now, bool all);
  /// When to look next; max: nothing is counted.
  [[nodiscard]] clock::time_point due() const;

 private:
  using kind = std::tuple<std::string, std::string, std::string, int>;  // network, identity, reason, status
  struct window_of {
    clock::time_point since;
    std::string address;  // of the first
    counted all;
  };
  [[nodiscard]] bool has_enough_of(const std::string& network) const;

  mutable std::mutex mutex_;
  std::map<kind, window_of> windows_;
};

}  // namespace hondana::audit
