/// Results of recent token checks, and the lock that lets one request at a time check a token.
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

/// Its first bytes are as random as any.
struct digest_hash {
  [[nodiscard]] std::size_t operator()(const bytes::sha256_bytes& of) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, of.data(), sizeof out);
    return out;
  }
};

/// By the token's hash, so that no token is kept. The oldest go when there are too many. Threads: any, and few meet: it is cut
/// into parts with a lock each.
template <class What>
class remembered_tokens {
 public:
  /// Good as long as the keys are of one generation; 0: whatever keys there are.
  using key_generation = std::uint64_t;

  explicit remembered_tokens(std::size_t most = 10'000) : most_in_part_((most + parts - 1) / parts) {}

  /// Nothing for what is not there, was put in under other keys than `keys`, or is over by `now`.
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
    std::deque<std::pair<bytes::sha256_bytes, std::uint64_t>> order;  // in which they came; as long as `all` may be, at most
    std::uint64_t count = 0;
  };
  [[nodiscard]] part& part_of(const bytes::sha256_bytes& token) { return parts_[token.back() % parts]; }

  const std::size_t most_in_part_;
  std::array<part, parts> parts_;
};

using token_cache = remembered_tokens<known_caller>;
using refused_tokens = remembered_tokens<challenge>;

/// Threads: any.
class one_a_token {
 public:
  /// True: it is the caller's turn, until `leave`. False: it was another's, who has left since, or the deadline has passed.
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
  std::unordered_set<bytes::sha256_bytes, digest_hash> inside_;  // as many as there are threads, at most
  std::size_t waiting_ = 0;
};

}  // namespace hondana::authentication
