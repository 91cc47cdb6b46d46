/// How much callers may ask of a server, and for how long it works on one request.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

class provider;

/// A token bucket: what a caller may have in the long run, and what may be saved up.
struct rate {
  double per_second = 0;  ///< 0: no limit.
  double burst = 0;       ///< What may be saved up, and is there at first; 0: what two seconds bring.
  friend bool operator==(const rate&, const rate&) = default;
};

/// What one caller may have. A request that is refused costs nothing.
struct rates {
  rate requests{};  ///< Each message of a batch is one.
  /// Of answers, charged when they have left or were cut off: whoever has had more than there was is refused until that is made
  /// up for.
  rate bytes{};
  rate completions{};  ///< `completion/complete`, which are requests, too.
  friend bool operator==(const rates&, const rates&) = default;
};

/// How a source is shared. Sources that never block have neither threads nor a queue: only deadlines of others hold there.
struct source_limits {
  std::size_t concurrency = 0;            ///< Calls at once; 0: as the source says (`provider::concurrency`).
  std::size_t waiting = 0;                ///< Calls that wait for those; 0: 4096. One caller may have a quarter of them.
  std::size_t per_caller = 0;             ///< Of one caller at once; 0: as many as of all.
  std::chrono::milliseconds deadline{0};  ///< For one call; 0: as for the request.
  friend bool operator==(const source_limits&, const source_limits&) = default;
};

/// Callers that are told apart by nothing (identity "anonymous") count by address alone; the user of stdio has no address.
struct server_limits {
  /// By identity. No limit: whoever has a token was let in by somebody who may set one.
  rates per_identity{};
  /// By address, an IPv6 one by its 64 bits of network. Requests are counted before it is asked who asks, so that those without
  /// a token count, too.
  rates per_address{{1000, 2000}, {}, {100, 200}};
  /// Whether addresses of this machine count, too: behind a proxy here, all clients look like one.
  bool count_loopback = false;
  /// Identities, and as many addresses, whose balance is kept at once, in about 200 bytes each. Balances that have filled up
  /// again make room for others; where there is none left, those who come new share one.
  std::size_t callers = 65'536;

  /// Until a request is answered with an error, by method ("resources/read"), instead of `server_options::call_deadline`.
  std::map<std::string, std::chrono::milliseconds, std::less<>> deadlines{};
  /// What no request exceeds until its answer begins, whatever it waits for: handlers that ask the client again and again, too.
  std::chrono::milliseconds longest_call{900'000};

  /// By source; the others have no limits of their own.
  std::map<const provider*, source_limits> sources{};
};

/// Errors: invalid_argument, which names the member: negative numbers, times and counts of 0, unknown methods.
[[nodiscard]] result<void> check(const server_limits& what);

}  // namespace hondana::inline v0
