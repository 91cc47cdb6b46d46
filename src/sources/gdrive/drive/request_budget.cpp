/// Limits the rate of requests to Drive, and serves waiting readers first.
#include "sources/gdrive/drive/request_budget.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::drive {
namespace {

/// One turn in this many goes to the lowest waiting priority, so that none starves.
constexpr std::uint64_t low_priority_interval = 16;

constexpr std::array<std::string_view, priority_count> priority_names{"read", "poll for changes", "listing"};

drive_error grant_error(error_kind kind, errc code, std::string reason) {
  drive_error out;
  out.kind = kind;
  out.details.code = code;
  out.details.public_text = std::move(reason);
  return out;
}

}  // namespace

request_budget::request_budget(rate_quota quota)
    : second_{std::max(1.0, quota.per_second), quota.per_second, std::max(1.0, quota.per_second)},
      // The quota of a minute may be used early in it, limited only by the quota of a second.
      minute_{std::max(1.0, quota.per_minute), quota.per_minute / 60, std::max(1.0, quota.per_minute)},
      refilled_at_(clock::now()) {}

void request_budget::wake_waiters() {
  ++change_count_;
  changed_.notify_all();
}

void request_budget::refill(clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - refilled_at_).count();
  refilled_at_ = now;
  for (auto* bucket : {&second_, &minute_})
    bucket->tokens = std::min(bucket->capacity, bucket->tokens + passed * bucket->refill_rate);
}

request_budget::clock::time_point request_budget::next_grant(clock::time_point now) const {
  double missing = 0;
  for (const auto* bucket : {&second_, &minute_}) {
    if (bucket->tokens < 1) missing = std::max(missing, (1 - bucket->tokens) / bucket->refill_rate);
  }
  // Round up: never send early.
  const auto wait = std::chrono::ceil<std::chrono::microseconds>(std::chrono::duration<double>(missing));
  return std::max(paused_until_, missing > 0 ? now + wait : now);
}

bool request_budget::is_first(request_priority priority) const noexcept {
  const auto index = static_cast<std::size_t>(priority);
  const auto has_waiting = [this](std::size_t first, std::size_t last) {
    return std::any_of(waiting_ + first, waiting_ + last, [](std::size_t count) { return count > 0; });
  };
  if (statistics_.granted % low_priority_interval == low_priority_interval - 1) return !has_waiting(index + 1, priority_count);
  return !has_waiting(0, index);
}

api_result<void> request_budget::acquire(request_priority priority, clock::time_point deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  auto& waiting = waiting_[static_cast<std::size_t>(priority)];
  const auto reject = [&](drive_error error) -> api_result<void> {
    --waiting;
    // Another request may be first now.
    wake_waiters();
    return tl::unexpected(std::move(error));
  };
  ++waiting;
  for (bool has_waited = false;; has_waited = true) {
    if (stop.stop_requested())
      return reject(grant_error(error_kind::cancelled, errc::cancelled,
                                "it was cancelled while it waited for the rate limit of Google Drive"));
    const auto now = clock::now();
    refill(now);
    const auto next = next_grant(now);
    if (next <= now && is_first(priority)) {
      for (auto* bucket : {&second_, &minute_}) bucket->tokens -= 1;
      ++statistics_.granted;
      if (has_waited) ++statistics_.delayed;
      --waiting;
      wake_waiters();
      return {};
    }
    if (next > deadline || now >= deadline) {
      const auto wait = std::max(next - now, clock::duration(0));
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
      const auto in_time = seconds > 1 ? " in " + std::to_string(seconds) + " seconds" : std::string(" later");
      const auto reason =
          "this " + std::string(priority_names[static_cast<std::size_t>(priority)]) + " would wait past its deadline";
      // This limit is the client's own, and says nothing about whether Google is reachable.
      auto error = paused_until_ > now
                       ? grant_error(error_kind::rate_limited, errc::overloaded,
                                     "Google reports too many requests, and " + reason + "; try again" + in_time)
                       : grant_error(error_kind::busy, errc::overloaded,
                                     "requests_per_minute is used up, and " + reason + "; try again" + in_time +
                                         ", or raise requests_per_minute");
      error.details.retry_after = std::chrono::ceil<std::chrono::milliseconds>(wait);
      return reject(std::move(error));
    }
    // Each call that takes a turn or gives up wakes all others.
    monotonic_clock::wait_until(changed_, lock, stop, next > now ? std::min(next, deadline) : deadline,
                                [&, seen_count = change_count_] { return change_count_ != seen_count; });
  }
}

void request_budget::pause(clock::duration duration) {
  const std::lock_guard lock(mutex_);
  paused_until_ = std::max(paused_until_, clock::now() + duration);
  wake_waiters();  // a caller whose deadline lies before that is rejected at once
  ++statistics_.pauses;
}

request_budget::statistics request_budget::current_statistics() const {
  const std::lock_guard lock(mutex_);
  auto out = statistics_;
  for (const auto count : waiting_) out.waiting += count;
  out.remaining_pause = std::max(paused_until_ - clock::now(), clock::duration(0));
  return out;
}

}  // namespace hondana::drive
