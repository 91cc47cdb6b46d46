/// Rate limits of callers, limits of sources, and timeouts of requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

class provider;

/// A token bucket: it starts full, and each request or byte takes a token.
struct rate_quota {
  double per_second = 1;          ///< Tokens added per second.
  std::optional<double> burst{};  ///< Capacity of the bucket. nullopt: the amount of two seconds.
  friend bool operator==(const rate_quota&, const rate_quota&) = default;
};

/// Rate limits of one caller; nullopt: no limit. A rejected request takes no tokens.
struct rate_quotas {
  std::optional<rate_quota> requests{};  ///< Each message of a batch counts as one.
  /// Bytes of answers without errors. They are taken after the answer was sent or cut off, so the balance can become negative.
  /// The caller is then rejected until it is not negative.
  std::optional<rate_quota> bytes{};
  std::optional<rate_quota> completions{};  ///< `completion/complete` requests. They also count as `requests`.
  friend bool operator==(const rate_quotas&, const rate_quotas&) = default;
};

/// Limits of one source. To sources with `provider_traits::never_blocks`, only `call_timeout` applies.
struct source_limits {
  std::optional<std::size_t> max_concurrency{};  ///< Calls at once. nullopt: `provider_traits::max_concurrency`.
  /// Calls that wait for a thread. nullopt: 4096. One caller may use a quarter of them.
  std::optional<std::size_t> max_queued_calls{};
  std::optional<std::size_t> max_calls_per_caller{};  ///< Calls at once for one caller. nullopt: as many as `max_concurrency`.
  /// Timeout of one call. The deadline of the request also applies.
  std::optional<std::chrono::milliseconds> call_timeout{};
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
  rate_quotas per_address{rate_quota{1000, 2000}, {}, rate_quota{100, 200}};
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

/// Validates limits. Errors: invalid_argument. Numbers and times must be greater than 0, times at most a day, methods
/// known, and `max_concurrency` at most 1024.
[[nodiscard]] result<void> validate_server_limits(const server_limits& limits);

}  // namespace hondana::inline v0
