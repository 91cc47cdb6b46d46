/// Rate limits of callers, limits of sources, and deadlines of requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

class provider;

/// A token bucket: a long-term rate, and a burst.
struct rate_quota {
  double per_second = 0;  ///< 0: no limit.
  double burst = 0;       ///< Capacity of the bucket, which starts full. 0: the amount of two seconds.
  friend bool operator==(const rate_quota&, const rate_quota&) = default;
};

/// Rate limits of one caller. A rejected request costs nothing.
struct rate_quotas {
  rate_quota requests{};  ///< Each message of a batch counts as one.
  /// Bytes of answers. They are charged after the answer was sent or cut off, so the balance can become negative. Then the
  /// caller is rejected until the balance has recovered.
  rate_quota bytes{};
  rate_quota completions{};  ///< `completion/complete` requests, which also count as requests.
  friend bool operator==(const rate_quotas&, const rate_quotas&) = default;
};

/// How callers share a source. Sources that never block have neither threads nor a queue; only `call_timeout` applies to them.
struct source_limits {
  std::size_t max_concurrency = 0;            ///< Calls at once. 0: the source's default (`provider::max_concurrency`).
  std::size_t max_queued_calls = 0;           ///< Calls that wait for a thread. 0: 4096. One caller may use a quarter of them.
  std::size_t max_calls_per_caller = 0;       ///< Calls at once for one caller. 0: as many as `max_concurrency`.
  std::chrono::milliseconds call_timeout{0};  ///< For one call. 0: the deadline of the request.
  friend bool operator==(const source_limits&, const source_limits&) = default;
};

/// Limits of a server.
///
/// Anonymous callers (identity "anonymous") are limited by address only; the caller over stdio has no address.
struct server_limits {
  /// For each identity. Default: no limit, because an operator issued each identity.
  rate_quotas per_identity{};
  /// For each address. IPv6 addresses count by their first 64 bits. Requests are counted before authentication, so those with
  /// invalid tokens count too.
  rate_quotas per_address{{1000, 2000}, {}, {100, 200}};
  /// Whether addresses of this machine are limited too. Off, because behind a local proxy all clients have the same address.
  bool limits_loopback = false;
  /// Identities, and as many addresses, whose balances are stored, at about 200 bytes each. A new caller can replace one whose
  /// balance is full. If there is none, new callers share one balance.
  std::size_t max_tracked_callers = 65'536;

  /// Timeout by method ("resources/read"), after which a request is answered with an error. Default:
  /// `server_options::call_timeout`.
  std::map<std::string, std::chrono::milliseconds, std::less<>> call_timeouts{};
  /// The longest time until an answer begins, including all rounds in which a handler requests input from the client.
  std::chrono::milliseconds total_timeout{900'000};

  /// Limits by source. Sources that are missing here use their defaults.
  std::map<const provider*, source_limits> sources{};
};

/// Validates limits. Errors: invalid_argument for negative numbers, times and counts of 0, and unknown methods. The text names
/// the member.
[[nodiscard]] result<void> validate_server_limits(const server_limits& limits);

}  // namespace hondana::inline v0
