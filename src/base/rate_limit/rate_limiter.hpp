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

/// What is limited, as an index.
enum class good : std::size_t { requests, bytes, completions };
inline constexpr std::size_t goods = 3;

/// What an operation takes before it begins. Bytes are known only afterwards.
struct wish {
  bool request = true;
  bool completion = false;
};

/// Why a wish is not granted.
struct shortage {
  good of = good::requests;
  clock::duration wait{};  ///< Until it would be.
};

/// One balance a caller. Balances that are full are forgotten when others need their room; those in use never are, so that
/// nobody loses a debt by sending others. When none can be forgotten, newcomers share the balance of their shard.
///
/// Threads: any; callers of different shards do not wait for each other.
class ledger {
 public:
  /// `most` balances at once.
  explicit ledger(std::size_t most);

  /// Takes what is wished if all of it is there and nothing is owed; else takes nothing and says how long to wait.
  [[nodiscard]] std::optional<shortage> take(std::string_view who, const rates& allowed, wish what, clock::time_point now);
  /// Gives back what was taken for an operation that then was not done.
  void give_back(std::string_view who, const rates& allowed, wish what, clock::time_point now);
  /// Takes bytes, into debt if need be.
  void charge(std::string_view who, const rates& allowed, double bytes, clock::time_point now);

  void limit_to(std::size_t most) noexcept;
  /// Balances kept now, for tests and figures.
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
    std::unordered_map<std::string_view, std::size_t> places;  // names are those of the accounts
    std::vector<std::unique_ptr<account>> accounts;
    std::size_t hand = 0;  // where to look for one to forget
    account shared{};      // of those for whom there is no room
  };
  static constexpr std::size_t shards = 64;

  [[nodiscard]] shard& shard_of(std::string_view who);
  /// Brought up to `now`. With the shard locked.
  [[nodiscard]] account& account_of(shard& in, std::string_view who, const rates& allowed, clock::time_point now);

  std::atomic<std::size_t> most_a_shard_;
  std::array<shard, shards> shards_;
};

/// What an address counts as: its network, in bytes; empty for one of this machine, for Unix sockets and for what is no
/// address. IPv6 addresses count by their first 64 bits, which one site usually has.
[[nodiscard]] std::string network_of(std::string_view address, bool count_loopback);

/// Whose share of a queue a call takes: an identity's, or a network's where nobody was asked who it is. Empty: nobody's in
/// particular, as of many who come by a proxy on this machine.
[[nodiscard]] std::string share_of(const caller& who);

/// What callers have left. Outlives configurations.
struct ledgers {
  explicit ledgers(std::size_t callers) : identities(callers), addresses(callers) {}
  ledger identities;
  ledger addresses;
};

/// The limits of one configuration over the ledgers of a server. Immutable but for these. Threads: any.
class meter {
 public:
  /// Null when there is nothing to limit.
  [[nodiscard]] static std::shared_ptr<const meter> make(const server_limits& with, std::shared_ptr<ledgers> kept);

  /// A message has come from an address: before it is known who asks. Errors: too_many_requests, with `retry`.
  [[nodiscard]] result<void> arrived(std::string_view address, clock::time_point now = clock::now()) const;
  /// A request of a caller. `is_counted`: `arrived` has been asked about it. Errors: as `arrived`.
  [[nodiscard]] result<void> admit(const caller& who, bool is_completion, bool is_counted,
                                   clock::time_point now = clock::now()) const;
  /// An answer has left, or as much of it as did.
  void written(const caller& who, std::uint64_t bytes, clock::time_point now = clock::now()) const;
  /// Whether anybody wants to hear of that.
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
