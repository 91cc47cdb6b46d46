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
constexpr std::uint64_t turns_between = 16;

constexpr std::array<std::string_view, lanes> lane_names{"read", "poll for changes", "listing"};

refusal no_turn(trouble what, errc code, std::string why) {
  refusal out;
  out.what = what;
  out.why.code = code;
  out.why.public_text = std::move(why);
  return out;
}

}  // namespace

budget::budget(rate allowed)
    : second_{std::max(1.0, allowed.per_second), allowed.per_second, std::max(1.0, allowed.per_second)},
      // The quota of a minute may be used early in it, limited only by the quota of a second.
      minute_{std::max(1.0, allowed.per_minute), allowed.per_minute / 60, std::max(1.0, allowed.per_minute)},
      filled_(clock::now()) {}

void budget::wake() {
  ++news_;
  turn_.notify_all();
}

void budget::fill(clock::time_point at) {
  const double passed = std::chrono::duration<double>(at - filled_).count();
  filled_ = at;
  for (auto* one : {&second_, &minute_}) one->left = std::min(one->most, one->left + passed * one->a_second);
}

budget::clock::time_point budget::next_turn(clock::time_point at) const {
  double lacks = 0;
  for (const auto* one : {&second_, &minute_}) {
    if (one->left < 1) lacks = std::max(lacks, (1 - one->left) / one->a_second);
  }
  // Round up: never send early.
  const auto wait = std::chrono::ceil<std::chrono::microseconds>(std::chrono::duration<double>(lacks));
  return std::max(paused_until_, lacks > 0 ? at + wait : at);
}

bool budget::is_first(lane of) const noexcept {
  const auto place = static_cast<std::size_t>(of);
  const auto waits = [this](std::size_t from, std::size_t to) {
    return std::any_of(waiting_ + from, waiting_ + to, [](std::size_t count) { return count > 0; });
  };
  if (told_.taken % turns_between == turns_between - 1) return !waits(place + 1, lanes);
  return !waits(0, place);
}

answer<void> budget::take(lane of, clock::time_point until, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  auto& waiting = waiting_[static_cast<std::size_t>(of)];
  const auto leave = [&](refusal why) -> answer<void> {
    --waiting;
    // Another request may be first now.
    wake();
    return tl::unexpected(std::move(why));
  };
  ++waiting;
  for (bool has_waited = false;; has_waited = true) {
    if (stop.stop_requested())
      return leave(
          no_turn(trouble::cancelled, errc::cancelled, "it was cancelled while it waited for the rate limit of Google Drive"));
    const auto at = clock::now();
    fill(at);
    const auto next = next_turn(at);
    if (next <= at && is_first(of)) {
      for (auto* one : {&second_, &minute_}) one->left -= 1;
      ++told_.taken;
      if (has_waited) ++told_.waited;
      --waiting;
      wake();
      return {};
    }
    if (next > until || at >= until) {
      const auto wait = std::max(next - at, clock::duration(0));
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
      const auto in_time = seconds > 1 ? " in " + std::to_string(seconds) + " seconds" : std::string(" later");
      const auto turn = "this " + std::string(lane_names[static_cast<std::size_t>(of)]) + " would wait past its deadline";
      // This limit is the client's own, and says nothing about whether Google is reachable.
      auto why = paused_until_ > at ? no_turn(trouble::rate_limited, errc::overloaded,
                                              "Google reports too many requests, and " + turn + "; try again" + in_time)
                                    : no_turn(trouble::busy, errc::overloaded,
                                              "requests_per_minute is used up, and " + turn + "; try again" + in_time +
                                                  ", or raise requests_per_minute");
      why.why.retry = std::chrono::ceil<std::chrono::milliseconds>(wait);
      return leave(std::move(why));
    }
    // Each call that takes a turn or gives up wakes all others.
    monotonic_clock::wait_until(turn_, lock, stop, next > at ? std::min(next, until) : until,
                                [&, seen = news_] { return news_ != seen; });
  }
}

void budget::pause(clock::duration so_long) {
  const std::lock_guard lock(mutex_);
  paused_until_ = std::max(paused_until_, clock::now() + so_long);
  wake();  // a caller whose deadline lies before that is rejected at once
  ++told_.pauses;
}

budget::figures budget::now() const {
  const std::lock_guard lock(mutex_);
  auto out = told_;
  for (const auto count : waiting_) out.waiting += count;
  out.paused_for = std::max(paused_until_ - clock::now(), clock::duration(0));
  return out;
}

}  // namespace hondana::drive
