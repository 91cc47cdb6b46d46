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
  [[nodiscard]] std::size_t operator()(const bytes::sha256_bytes& of) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, of.data(), sizeof out);
    return out;
  }
};

/// Results by token hash, so that no token stays in memory. Removes the oldest when full. Threads: any; 16 parts with a lock
/// each.
template <class What>
class remembered_tokens {
 public:
  /// An entry is valid for one generation of keys; 0: for all.
  using key_generation = std::uint64_t;

  explicit remembered_tokens(std::size_t most = 10'000) : most_in_part_((most + parts - 1) / parts) {}

  /// Empty if the token is missing, was checked with other keys than `keys`, or has expired by `now`.
  [[nodiscard]] std::optional<What> find(const bytes::sha256_bytes& token, key_generation keys, steady_time now);
  void put(const bytes::sha256_bytes& token, What what, key_generation keys, steady_time until);
  [[nodiscard]] std::size_t size();

 private:
  static constexpr std::size_t parts = 16;

  struct entry {
    What what;
    key_generation keys;
    steady_time until;
    std::uint64_t order;
  };
  struct part {
    std::mutex mutex;
    std::unordered_map<bytes::sha256_bytes, entry, digest_hash> all;
    std::deque<std::pair<bytes::sha256_bytes, std::uint64_t>> order;  // in order of insertion; at most `most_in_part_` entries
    std::uint64_t count = 0;
  };
  [[nodiscard]] part& part_of(const bytes::sha256_bytes& token) { return parts_[token.back() % parts]; }

  const std::size_t most_in_part_;
  std::array<part, parts> parts_;
};

using token_cache = remembered_tokens<known_caller>;
using refused_tokens = remembered_tokens<challenge>;

/// Lets one thread at a time check a token. Threads: any.
class one_a_token {
 public:
  /// True: the calling thread must check the token and then call `leave`. False: another thread has checked it, or the deadline
  /// passed.
  [[nodiscard]] bool enter(const bytes::sha256_bytes& token, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (inside_.insert(token).second) return true;
    ++waiting_;
    monotonic_clock::wait_until(left_, lock, deadline, [&] { return !inside_.contains(token); });
    --waiting_;
    return false;
  }
  void leave(const bytes::sha256_bytes& token) {
    const std::lock_guard lock(mutex_);
    inside_.erase(token);
    left_.notify_all();
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::unordered_set<bytes::sha256_bytes, digest_hash> inside_;  // at most one for each thread
  std::size_t waiting_ = 0;
};

}  // namespace hondana::authentication
