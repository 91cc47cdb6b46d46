/// Whether nothing has happened in the watched folders that has not been passed on.
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <chrono>

#include <hondana/clock.hpp>

#include "os/watch/folders.hpp"

namespace hondana::files {

/// Told by whoever watches, asked by whoever kept what was made from what was heard.
///
/// Where the queue of the kernel is empty and then nothing is being passed on, all that happened before has been: an event is
/// in the queue before the system call that makes it returns, and is taken from it after `begin_hearing`. What the kernel does
/// not tell of, such as another folder in the place of a root, was looked for at most 20 ms ago.
/// Threads: any; nothing waits.
class stillness {
 public:
  using clock = monotonic_clock;

  /// `bell`: an eventfd that is rung when a look is wanted.
  explicit stillness(int bell) noexcept : bell_(bell) {}

  /// Every root is watched by `all` from now on, which outlives this.
  void begin(const watch::folders& all) noexcept {
    folders_ = &all;
    is_on_ = true;
  }
  /// That is no longer so, for good.
  void end() noexcept { is_on_ = false; }
  /// Before events are taken from the queue, and after they have been passed on.
  void begin_hearing() noexcept { hears_ = true; }
  void end_hearing() noexcept { hears_ = false; }
  /// A look at all roots that began then has ended.
  void looked(clock::time_point when) noexcept { looked_ = when.time_since_epoch().count(); }
  /// Whether a look is wanted; once.
  [[nodiscard]] bool takes_look() noexcept { return look_wanted_.exchange(false); }

  /// Whether every event of the kernel so far has been passed on.
  [[nodiscard]] bool has_caught_up() const noexcept {
    const auto* all = folders_.load();
    return all == nullptr || (all->is_silent() && !hears_);
  }
  /// Whoever counts what is passed on looks at the counter after this, and took it before whatever was looked at.
  [[nodiscard]] bool is_still() const noexcept {
    if (!is_on_) return false;
    const auto last = looked_.load();
    const auto age = clock::now() - clock::time_point(clock::duration(last));
    if (last == 0 || age > longest_trust) return false;
    // In good time, so that nobody who asks often finds it too old.
    if (age > longest_trust / 2 && !look_wanted_.exchange(true)) (void)::eventfd_write(bell_, 1);
    return folders_.load()->is_silent() && !hears_;
  }

 private:
  static constexpr std::chrono::milliseconds longest_trust{20};

  const int bell_;
  std::atomic<const watch::folders*> folders_{nullptr};
  std::atomic<bool> is_on_{false};
  std::atomic<bool> hears_{false};
  std::atomic<clock::rep> looked_{0};  // 0: never
  mutable std::atomic<bool> look_wanted_{false};
};

}  // namespace hondana::files
