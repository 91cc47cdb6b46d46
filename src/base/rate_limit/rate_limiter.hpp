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

/// The limited quantities, used as indexes.
enum class good : std::size_t { requests, bytes, completions };
inline constexpr std::size_t goods = 3;

/// The tokens that an operation needs before it starts. Bytes are only known after it.
struct wish {
  bool request = true;
  bool completion = false;
};

/// Why an operation is not admitted.
struct shortage {
  good of = good::requests;
  clock::duration wait{};  ///< Time until it would be admitted.
};

/// One balance (set of token buckets) per caller. A full balance can be evicted to make space for a new caller.
/// Balances in use are never evicted, so that a caller cannot erase its debt by sending requests as others. When none of the
/// examined balances is full, new callers share the balance of their shard.
///
/// Threads: any; callers of different shards do not wait for each other.
class ledger {
 public:
  /// `most`: the maximum number of balances.
  explicit ledger(std::size_t most);

  /// Takes the tokens for `what` if all are available and the balance of bytes is not negative. Otherwise takes none and
  /// returns the time to wait.
  [[nodiscard]] std::optional<shortage> take(std::string_view who, const rates& allowed, wish what, clock::time_point now);
  /// Returns the tokens of an operation that was not executed.
  void give_back(std::string_view who, const rates& allowed, wish what, clock::time_point now);
  /// Takes tokens for `bytes`. The balance may become negative.
  void charge(std::string_view who, const rates& allowed, double bytes, clock::time_point now);

  /// Changes the maximum number of balances. Existing balances stay.
  void limit_to(std::size_t most) noexcept;
  /// The number of stored balances, for tests and metrics.
  [[nodiscard]] std::size_t size() const;

 private:
  using balance = std::array<double, goods>;
  struct account {
    std::string who;
    balance left{};
    clock::time_point at{};
  };
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string_view, std::size_t> places;  // keys are views of the names in `accounts`
    std::vector<std::unique_ptr<account>> accounts;
    std::size_t hand = 0;  // the next account to examine for eviction
    account shared{};      // for callers without an account of their own
  };
  static constexpr std::size_t shards = 64;

  [[nodiscard]] shard& shard_of(std::string_view who);
  /// The caller's account with tokens added up to `now`. The shard must be locked.
  [[nodiscard]] account& account_of(shard& in, std::string_view who, const rates& allowed, clock::time_point now);

  std::atomic<std::size_t> most_a_shard_;
  std::array<shard, shards> shards_;
};

/// The network of an address, as bytes; empty for Unix sockets and invalid addresses, and for loopback unless `count_loopback`.
/// IPv6 addresses are reduced to their first 64 bits, which one site usually has.
[[nodiscard]] std::string network_of(std::string_view address, bool count_loopback);

/// The caller name for fair queues: the identity, or the network of an anonymous caller.
/// Empty for anonymous callers on this machine, such as those behind a local proxy.
[[nodiscard]] std::string share_of(const caller& who);

/// The balances of all callers. They survive configuration changes.
struct ledgers {
  explicit ledgers(std::size_t callers) : identities(callers), addresses(callers) {}
  ledger identities;
  ledger addresses;
};

/// Applies the limits of one configuration to the shared ledgers. Immutable except for the ledgers. Threads: any.
class meter {
 public:
  /// Returns null when `with` sets no limit.
  [[nodiscard]] static std::shared_ptr<const meter> make(const server_limits& with, std::shared_ptr<ledgers> kept);

  /// Counts a message from an address before the caller is authenticated. Errors: too_many_requests, with `retry`.
  [[nodiscard]] result<void> arrived(std::string_view address, clock::time_point now = clock::now()) const;
  /// Counts a request of a caller. `is_counted`: `arrived` has already counted it. Errors: as `arrived`.
  [[nodiscard]] result<void> admit(const caller& who, bool is_completion, bool is_counted,
                                   clock::time_point now = clock::now()) const;
  /// Counts the bytes of a response that were sent.
  void written(const caller& who, std::uint64_t bytes, clock::time_point now = clock::now()) const;
  /// Whether any byte limit is set, so that `written` must be called.
  [[nodiscard]] bool counts_bytes() const noexcept;

 private:
  meter(const server_limits& with, std::shared_ptr<ledgers> kept);
  [[nodiscard]] bool counts_identity(const caller& who) const noexcept;

  rates per_identity_;
  rates per_address_;
  bool limits_identities_;
  bool limits_addresses_;
  bool counts_loopback_;
  std::shared_ptr<ledgers> kept_;
};

}  // namespace hondana::rate_limit
