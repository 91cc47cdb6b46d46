/// The thread waits for a wish, and for the time of the next round.
#include "sources/metrics/summaries.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"

namespace hondana::metrics {

summaries::summaries(summary_options how, std::shared_ptr<backend> from, std::chrono::milliseconds every,
                     std::function<series::instant()> now, listener told)
    : from_(std::move(from)), every_(every), now_(std::move(now)), told_(std::move(told)), surveyor_(std::move(how), *from_) {}

summaries::~summaries() {
  thread_.request_stop();
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

summaries::clock::time_point summaries::next() const {
  constexpr std::chrono::milliseconds after_failure{3000};
  return *made_ + (problem_ ? std::min(every_, after_failure) : every_);
}

void summaries::want() {
  const std::lock_guard lock(mutex_);
  is_wanted_ = true;
  if (!thread_.joinable()) {
    const executor::signals_blocked quiet;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  news_.notify_all();
}

result<std::shared_ptr<const summary>> summaries::get(const call& by) {
  std::uint64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    if (made_ && clock::now() < next()) {
      if (problem_) return tl::unexpected(*problem_);
      return last_;
    }
    before = rounds_;
  }
  want();
  std::unique_lock lock(mutex_);
  const auto until = std::min(by.deadline, clock::now() + std::chrono::minutes(1));
  monotonic_clock::wait_until(news_, lock, by.stop, until, [&] { return rounds_ != before; });
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (rounds_ == before) {
    if (last_) return last_;
    return fail(errc::timed_out, "The first summary is not ready yet. Retry in a few seconds.");
  }
  if (problem_) return tl::unexpected(*problem_);
  return last_;
}

std::shared_ptr<const summary> summaries::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void summaries::run(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!news_.wait(lock, stop, [&] { return is_wanted_; })) return;
      // Nothing ends this wait before its time but the end of the source.
      if (made_) monotonic_clock::wait_until(news_, lock, stop, next(), [] { return false; });
      if (stop.stop_requested()) return;
      is_wanted_ = false;
    }
    call by;
    by.who.identity = "hondana";
    by.stop = stop;
    auto made = [&]() -> result<summary> {
      try {
        return surveyor_.look(now_(), by);
      } catch (const std::exception& error) {
        return fail(errc::source_unavailable, "The summary could not be created.", error.what());
      }
    }();
    bool is_moved = false, is_made = false;
    {
      const std::lock_guard lock(mutex_);
      ++rounds_;
      made_ = clock::now();
      problem_.reset();
      if (made) {
        constexpr double far = 0.1;
        last_ = std::make_shared<const summary>(std::move(*made));
        is_made = true;
        is_moved = !told_score_ || std::abs(last_->score - *told_score_) >= far;
        if (is_moved) told_score_ = last_->score;
      } else {
        problem_ = std::move(made.error());
      }
      news_.notify_all();
    }
    if (stop.stop_requested()) return;
    if (is_made && told_.made) told_.made();
    if (is_moved && told_.moved) told_.moved();
  }
}

}  // namespace hondana::metrics
