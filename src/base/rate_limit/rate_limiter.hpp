/// Rate limits of callers: token buckets in bounded memory, and the decision to admit a request.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/limits.hpp>
#include <hondana/provider.hpp>

namespace hondana::rate_limit {

using clock = monotonic_clock;

/// The quantities that `rate_quotas` limits. Used as indexes.
enum class limited_quantity : std::size_t { requests, bytes, completions };
inline constexpr std::size_t quantity_count = 3;

/// The tokens that an operation needs before it starts: at most one for a request, and one for a completion.
/// Bytes are charged afterwards.
struct token_cost {
  bool request = true;
  bool completion = false;
};

/// Why an operation is not admitted.
struct shortage {
  limited_quantity quantity = limited_quantity::requests;  ///< The quantity with the longest wait.
  clock::duration retry_after{};                           ///< Time until the operation would be admitted, at most one day.
};

/// The balances of callers. A balance contains the tokens that a caller has left of each quantity.
/// The table is divided into 64 shards. If the shard of a new caller is full, the caller gets the place of another one whose
/// balance is full. Other balances are never evicted, so that callers cannot erase their debt by sending requests as others.
/// If the table finds no full balance, new callers of the shard share one balance.
///
/// Threads: any. Callers of different shards do not wait for each other.
class bucket_table {
 public:
  /// `max_callers`: the maximum number of balances, rounded down to a multiple of 64, but at least 64.
  explicit bucket_table(std::size_t max_callers);

  /// Takes the tokens for `cost` and returns nullopt, if all are available and the balance of bytes is not negative.
  /// Otherwise takes no tokens.
  [[nodiscard]] std::optional<shortage> consume(std::string_view caller, const rate_quotas& limits, token_cost cost,
                                                clock::time_point now);
  /// Gives back the tokens of an operation that was not executed.
  void refund(std::string_view caller, const rate_quotas& limits, token_cost cost, clock::time_point now);
  /// Takes tokens for `bytes`. The balance may become negative.
  void charge(std::string_view caller, const rate_quotas& limits, double bytes, clock::time_point now);

  /// Changes the maximum number of balances. Existing balances stay.
  void set_max_callers(std::size_t max_callers) noexcept;
  /// The number of stored balances, without shared ones. For tests and metrics.
  [[nodiscard]] std::size_t size() const;

 private:
  using token_counts = std::array<double, quantity_count>;
  struct bucket_set {
    std::string caller;
    token_counts tokens{};
    clock::time_point updated_at{};
  };
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string_view, std::size_t> positions;  // keys are views of the names in `entries`
    std::vector<std::unique_ptr<bucket_set>> entries;
    std::size_t eviction_cursor = 0;  // the next entry to examine for eviction
    bucket_set shared{};              // for callers without their own entry
  };
  static constexpr std::size_t shard_count = 64;

  [[nodiscard]] shard& shard_of(std::string_view caller);
  /// The caller's bucket set, refilled up to `now`. The shard must be locked.
  [[nodiscard]] bucket_set& bucket_set_of(shard& locked_shard, std::string_view caller, const rate_quotas& limits,
                                          clock::time_point now);

  std::atomic<std::size_t> max_per_shard_;
  std::array<shard, shard_count> shards_;
};

/// The network of an IP address, as raw bytes: an IPv4 address, or the first 64 bits of an IPv6 address, which one site shares.
/// Empty for Unix sockets and invalid addresses, and for loopback addresses unless `count_loopback` is set.
[[nodiscard]] std::string network_of(std::string_view address, bool count_loopback);

/// The caller name for `executor::submit`: the identity, or for an anonymous caller the network of its address.
/// Empty for anonymous callers on this machine, such as those behind a local proxy.
[[nodiscard]] std::string queue_key_of(const caller_info& caller);

/// The balances of all callers. They survive configuration changes.
struct bucket_tables {
  explicit bucket_tables(std::size_t max_callers) : identities(max_callers), addresses(max_callers) {}
  bucket_table identities;  ///< By `caller_info::identity`, without anonymous callers.
  bucket_table addresses;   ///< By `network_of` the address.
};

/// Applies the limits of one configuration to the shared bucket tables. Immutable except for the tables. Threads: any.
class rate_limiter {
 public:
  /// Returns null if `limits` sets no limit.
  [[nodiscard]] static std::shared_ptr<const rate_limiter> make(const server_limits& limits,
                                                                std::shared_ptr<bucket_tables> tables);

  /// Counts a message for its address, before the caller is authenticated. Errors: too_many_requests, with `retry_after`.
  [[nodiscard]] result<void> admit_message(std::string_view address, clock::time_point now = clock::now()) const;
  /// Counts a request for the identity and the address of its caller. A rejection takes no tokens.
  /// `is_counted`: `admit_message` has already counted the request for the address. Errors: as `admit_message`.
  [[nodiscard]] result<void> admit(const caller_info& caller, bool is_completion, bool is_counted,
                                   clock::time_point now = clock::now()) const;
  /// Charges the identity and the address of a caller for the bytes of a response that were sent.
  void charge_bytes(const caller_info& caller, std::uint64_t bytes, clock::time_point now = clock::now()) const;
  /// Whether a byte limit is set, so that `charge_bytes` must be called.
  [[nodiscard]] bool counts_bytes() const noexcept;

 private:
  rate_limiter(const server_limits& limits, std::shared_ptr<bucket_tables> tables);
  [[nodiscard]] bool counts_identity(const caller_info& caller) const noexcept;

  rate_quotas per_identity_;
  rate_quotas per_address_;
  bool limits_identities_;
  bool limits_addresses_;
  bool counts_loopback_;
  std::shared_ptr<bucket_tables> tables_;
};

}  // namespace hondana::rate_limit
