/// Results of recent token checks, and a lock that lets only one request at a time check a token.
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

/// Uses the first bytes of a SHA-256 hash, which are uniformly distributed.
struct digest_hash {
  [[nodiscard]] std::size_t operator()(const bytes::sha256_bytes& digest) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, digest.data(), sizeof out);
    return out;
  }
};

/// Results by token hash, so that no token stays in memory. Removes the oldest when full. Threads: any; 16 parts with a lock
/// each.
template <class Outcome>
class outcome_cache {
 public:
  /// An entry is valid for one generation of keys; 0: for all.
  using key_generation = std::uint64_t;

  explicit outcome_cache(std::size_t max_entries = 10'000)
      : max_shard_entries_((max_entries + shard_count - 1) / shard_count) {}

  /// Empty if the token is missing, was checked with other keys than `keys`, or has expired by `now`.
  [[nodiscard]] std::optional<Outcome> find(const bytes::sha256_bytes& token, key_generation keys, steady_time now);
  void put(const bytes::sha256_bytes& token, Outcome outcome, key_generation keys, steady_time expires_at);
  [[nodiscard]] std::size_t size();

 private:
  static constexpr std::size_t shard_count = 16;

  struct entry {
    Outcome outcome;
    key_generation keys;
    steady_time expires_at;
    std::uint64_t order;
  };
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

/// Lets one thread at a time check a token. Threads: any.
class single_flight {
 public:
  /// True: the calling thread must check the token and then call `leave`. False: another thread has checked it, or the deadline
  /// passed.
  [[nodiscard]] bool enter(const bytes::sha256_bytes& token, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (active_.insert(token).second) return true;
    ++waiting_;
    monotonic_clock::wait_until(released_, lock, deadline, [&] { return !active_.contains(token); });
    --waiting_;
    return false;
  }
  void leave(const bytes::sha256_bytes& token) {
    const std::lock_guard lock(mutex_);
    active_.erase(token);
    released_.notify_all();
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::unordered_set<bytes::sha256_bytes, digest_hash> active_;  // at most one for each thread
  std::size_t waiting_ = 0;
};

}  // namespace hondana::authentication
