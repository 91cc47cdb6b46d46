/// Back-off for a failing embedding service.
#include "search/embeddings/backoff.hpp"

#include <algorithm>

#include "base/executor/backoff.hpp"

namespace hondana::embeddings {
namespace {

constexpr executor::backoff pauses{std::chrono::milliseconds(1'000), std::chrono::milliseconds(60'000)};
constexpr std::chrono::milliseconds max_retry_after{3'600'000};

}  // namespace

std::optional<std::chrono::milliseconds> backoff::remaining_delay(clock::time_point now, std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  if (failures_ == 0) return std::nullopt;
  if (now < blocked_until_) return std::chrono::ceil<std::chrono::milliseconds>(blocked_until_ - now);
  blocked_until_ = now + timeout;
  return std::nullopt;
}

void backoff::report_success() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  blocked_until_ = {};
}

void backoff::report_failure(clock::time_point started, clock::time_point now,
                             std::optional<std::chrono::milliseconds> retry_after) {
  const std::lock_guard lock(mutex_);
  if (failures_ == 0 || started >= last_failure_) {
    blocked_until_ = std::max(blocked_until_, now + pauses.delay(++failures_));
    last_failure_ = now;
  }
  if (retry_after) blocked_until_ = std::max(blocked_until_, now + std::min(*retry_after, max_retry_after));
}

std::size_t backoff::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

}  // namespace hondana::embeddings
