/// Rate limits of callers, limits of sources, and timeouts of requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

class provider;

/// A token bucket: it starts full, and each request or byte takes a token.
struct rate_quota {
  double per_second = 0;  ///< Tokens added per second. 0: no limit.
  double burst = 0;       ///< Capacity of the bucket. 0: the amount of two seconds.
  friend bool operator==(const rate_quota&, const rate_quota&) = default;
};

/// Rate limits of one caller. A rejected request takes no tokens.
struct rate_quotas {
  rate_quota requests{};  ///< Each message of a batch counts as one.
  /// Bytes of answers without errors. They are taken after the answer was sent or cut off, so the balance can become negative.
  /// The caller is then rejected until it is not negative.
  rate_quota bytes{};
  rate_quota completions{};  ///< `completion/complete` requests. They also count as `requests`.
  friend bool operator==(const rate_quotas&, const rate_quotas&) = default;
};

/// Limits of one source. To sources with `provider_traits::never_blocks`, only `call_timeout` applies.
struct source_limits {
  std::size_t max_concurrency = 0;       ///< Calls at once. 0: the source's default (`provider_traits::max_concurrency`).
  std::size_t max_queued_calls = 0;      ///< Calls that wait for a thread. 0: 4096. One caller may use a quarter of them.
  std::size_t max_calls_per_caller = 0;  ///< Calls at once for one caller. 0: as many as `max_concurrency`.
  /// Timeout of one call. 0: the deadline of the request, which also applies otherwise.
  std::chrono::milliseconds call_timeout{0};
  friend bool operator==(const source_limits&, const source_limits&) = default;
};

/// Limits of a server.
///
/// Callers with the identity "anonymous" are limited by address only. Callers over stdio and Unix sockets are not limited by
/// address.
struct server_limits {
  /// For each identity. Default: no limit, because an operator issued each identity.
  rate_quotas per_identity{};
  /// For each address. IPv6 addresses count by their first 64 bits. Requests are counted before authentication, so those with
  /// invalid tokens count too.
  rate_quotas per_address{{1000, 2000}, {}, {100, 200}};
  /// Whether `per_address` applies to addresses of this machine. Behind a local proxy, all clients have the same address.
  bool limits_loopback = false;
  /// How many identities, and how many addresses, have their own balance, at about 200 bytes each. A new caller can replace one
  /// whose balance is full. If there is none, new callers share one balance.
  std::size_t max_tracked_callers = 65'536;

  /// Timeouts by method ("resources/read"), after which a request is answered with an error. Other methods use
  /// `server_options::call_timeout`.
  std::map<std::string, std::chrono::milliseconds, std::less<>> call_timeouts{};
  /// The longest time until an answer begins, including the time in which the client answers questions of handlers. Also limits
  /// `call_timeouts`.
  std::chrono::milliseconds total_timeout{900'000};

  /// Limits by source. Other sources have the defaults of `source_limits`.
  std::map<const provider*, source_limits> sources{};
};

/// Validates limits. Errors: invalid_argument. Numbers must not be negative, times at most a day, methods known, and
/// `max_concurrency` at most 1024. 0 is invalid where no meaning is given.
[[nodiscard]] result<void> validate_server_limits(const server_limits& limits);

}  // namespace hondana::inline v0
