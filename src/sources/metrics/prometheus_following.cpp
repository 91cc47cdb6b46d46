/// The thread that tells.
#include "sources/metrics/prometheus_following.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"

namespace hondana::metrics {
namespace {

constexpr std::chrono::milliseconds shortest_pause{100};
constexpr std::chrono::milliseconds longest_wait{1000};

}  // namespace

void following::tell(std::function<void()> told) {
  std::jthread ended;
  {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    if (told_) return begin();
    ended = std::move(thread_);
  }
  end(std::move(ended));
}

void following::pause() {
  std::jthread ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(thread_);
  }
  end(std::move(ended));
}

void following::go_on() {
  const std::lock_guard lock(mutex_);
  if (told_) begin();
}

void following::begin() {
  if (thread_.joinable()) return;
  const executor::signals_blocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void following::end(std::jthread thread) {
  thread.request_stop();
  // What it calls may be what ends it.
  if (thread.get_id() == std::this_thread::get_id() && thread.joinable()) thread.detach();
}

void following::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // The interval may be found out, or change, meanwhile.
    const auto begun = monotonic_clock::now();
    for (std::chrono::milliseconds left{shortest_pause}; left.count() > 0 && !stop.stop_requested();) {
      monotonic_clock::wait_for(changed_, lock, stop, std::min(left, longest_wait), [] { return false; });
      const auto pause = std::chrono::milliseconds(std::max<series::duration>(every_(), shortest_pause.count()));
      left = std::chrono::ceil<std::chrono::milliseconds>(begun + pause - monotonic_clock::now());
    }
    if (stop.stop_requested() || !told_) return;
    const auto told = told_;
    lock.unlock();
    told();
    // What it calls may have ended all this.
    if (stop.stop_requested()) return;
    lock.lock();
  }
}

}  // namespace hondana::metrics
