/// Back-off for a failing embedding service.
#include "search/embeddings/backoff.hpp"

#include <algorithm>

namespace hondana::embeddings {
namespace {

constexpr std::chrono::milliseconds shortest{1'000};
constexpr std::chrono::milliseconds longest{60'000};
constexpr std::chrono::milliseconds longest_asked_for{3'600'000};
constexpr std::size_t most_doublings = 6;

}  // namespace

std::optional<std::chrono::milliseconds> respite::left(clock::time_point now, std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  if (failures_ == 0) return std::nullopt;
  if (now < until_) return std::chrono::ceil<std::chrono::milliseconds>(until_ - now);
  until_ = now + patience;
  return std::nullopt;
}

void respite::succeeded() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  until_ = {};
}

void respite::failed(clock::time_point began, clock::time_point now, std::optional<std::chrono::milliseconds> asked_for) {
  const std::lock_guard lock(mutex_);
  if (failures_ == 0 || began >= last_) {
    const auto doublings = std::min(failures_, most_doublings);
    until_ = std::max(until_, now + std::min(shortest * (1 << doublings), longest));
    ++failures_;
    last_ = now;
  }
  if (asked_for) until_ = std::max(until_, now + std::min(*asked_for, longest_asked_for));
}

std::size_t respite::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

}  // namespace hondana::embeddings
