/// One at a time for each token, whoever sends it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include <hondana/clock.hpp>

#include "auth/authentication/digest_hash.hpp"

namespace hondana::authentication {

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
