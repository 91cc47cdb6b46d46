/// Caches the results of token checks, and prevents two threads from checking the same token at once.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <hondana/authenticator.hpp>
#include <hondana/clock.hpp>

#include "auth/authentication/clocks.hpp"
#include "base/bytes/sha256.hpp"

namespace hondana::authentication {

/// Hashes a SHA-256 digest for hash tables: returns its first bytes.
struct digest_hash {
  [[nodiscard]] std::size_t operator()(const bytes::sha256_bytes& digest) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, digest.data(), sizeof out);
    return out;
  }
};

/// Caches results of token checks. `token` is the SHA-256 digest of a token, so that no token stays in memory. A full cache
/// drops the entries that were stored first. Threads: any.
template <class Outcome>
class outcome_cache {
 public:
  /// The `published_keys::generation` that a token was checked with; 0: no keys were used.
  using key_generation = std::uint64_t;

  explicit outcome_cache(std::size_t max_entries = 10'000)
      : max_shard_entries_((max_entries + shard_count - 1) / shard_count) {}

  /// Returns the stored result. Empty: there is none, it expired by `now`, or the token was checked with keys of another
  /// generation than `keys`.
  [[nodiscard]] std::optional<Outcome> find(const bytes::sha256_bytes& token, key_generation keys, steady_time now);
  /// Stores a result, and replaces that of the same token.
  void put(const bytes::sha256_bytes& token, Outcome outcome, key_generation keys, steady_time expires_at);
  /// The number of stored results, including expired ones.
  [[nodiscard]] std::size_t size();

 private:
  static constexpr std::size_t shard_count = 16;

  struct entry {
    Outcome outcome;
    key_generation keys;
    steady_time expires_at;
    std::uint64_t order;  // the `last_order` of its insertion
  };
  /// The entries of some tokens, with a lock of their own.
  struct token_shard {
    std::mutex mutex;
    std::unordered_map<bytes::sha256_bytes, entry, digest_hash> entries;
    std::deque<std::pair<bytes::sha256_bytes, std::uint64_t>>
        insertions;  // in order of insertion; at most `max_shard_entries_` entries
    std::uint64_t last_order = 0;
  };
  [[nodiscard]] token_shard& shard_of(const bytes::sha256_bytes& token) { return shards_[token.back() % shard_count]; }

  const std::size_t max_shard_entries_;
  std::array<token_shard, shard_count> shards_;
};

using token_cache = outcome_cache<authenticated_caller>;
using rejection_cache = outcome_cache<auth_rejection>;

/// Lets only one thread at a time check the same token. `token` is the SHA-256 digest of a token. Threads: any.
class single_flight {
 public:
  /// Begins a check, or waits while another thread checks the token. True: the calling thread must check the token and then
  /// call `leave`. False: the other thread called `leave`, or the deadline passed.
  [[nodiscard]] bool enter(const bytes::sha256_bytes& token, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (active_.insert(token).second) return true;
    ++waiting_;
    monotonic_clock::wait_until(released_, lock, deadline, [&] { return !active_.contains(token); });
    --waiting_;
    return false;
  }
  /// Ends the check, and wakes the threads that wait for it.
  void leave(const bytes::sha256_bytes& token) {
    const std::lock_guard lock(mutex_);
    active_.erase(token);
    released_.notify_all();
  }
  /// The number of threads that wait in `enter`.
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::unordered_set<bytes::sha256_bytes, digest_hash> active_;  // the tokens that are being checked
  std::size_t waiting_ = 0;
};

}  // namespace hondana::authentication
