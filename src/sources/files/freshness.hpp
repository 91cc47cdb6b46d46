/// Whether files and lists are unchanged since they were read, judged by kernel events.
#pragma once

#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/resource.hpp>

#include "os/watch/inotify.hpp"

namespace hondana::files {

/// Counts what happens in watched folders, and vouches for readings of files in them.
///
/// A file that was looked at a moment ago is as it was while no event waits in the kernel's queue, none has been taken from it
/// that is not counted yet, and no count of it or of a folder above it has grown: an event is queued before the system call
/// that changes something returns. What makes no event (writes through mappings, through other links of the file or below
/// another mount of it, by other machines, and to what decides about files from outside of their folders) shows after
/// `longest` at the latest, since a file is then looked at again.
/// Threads: any; `hearing` and what is counted in it one at a time.
class freshness : public std::enable_shared_from_this<freshness> {
 public:
  /// `heard` are the folders whose events are counted here.
  explicit freshness(std::shared_ptr<const watch::folders> heard) : heard_(std::move(heard)) {}

  /// Held from before events are taken from the queue until all of them are counted.
  class hearing {
   public:
    explicit hearing(freshness& of) noexcept : of_(of) { of_.is_hearing_.store(true, std::memory_order_seq_cst); }
    hearing(const hearing&) = delete;
    hearing& operator=(const hearing&) = delete;
    ~hearing() { of_.is_hearing_.store(false, std::memory_order_release); }
    /// Something happened at a path of a tree: it and all below are not what they were.
    void count(std::size_t tree, std::string_view path) noexcept;
    /// Anything may have.
    void count_all() noexcept { of_.of_all_.fetch_add(1, std::memory_order_relaxed); }

   private:
    freshness& of_;
  };

  /// Vouches for a reading of a file that is begun after this call. Null: the folders down to it are not all watched, or too
  /// many. It says nothing of links on the way.
  [[nodiscard]] std::shared_ptr<const validity> vouch(std::size_t tree, std::string_view path) const;
  /// Whether `vouch` could: the folders down to the file may be watched yet.
  [[nodiscard]] static bool can_vouch(std::string_view path) noexcept;

 private:
  class voucher;
  static constexpr std::size_t deepest = 16;  // folders above a file, its root among them
  static constexpr std::size_t places = 4096;
  /// Where a path and the folders above it are counted. Paths may share a place, which makes some be looked at too often.
  struct chain {
    std::array<std::uint16_t, deepest + 1> at{};
    std::size_t length = 0;
  };
  /// Nothing when it is too deep.
  [[nodiscard]] static chain chain_of(std::size_t tree, std::string_view path) noexcept;
  /// Equal sums mean that nothing has grown.
  [[nodiscard]] std::uint64_t sum_of(const chain& what) const noexcept;

  const std::shared_ptr<const watch::folders> heard_;
  std::atomic<bool> is_hearing_{false};
  std::atomic<std::uint64_t> of_all_{0};
  std::array<std::atomic<std::uint64_t>, places> counts_{};
};

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

/// How often something has begun that may change the list; shared with the pages that were made from it.
using stir_count = std::atomic<std::uint64_t>;

/// Holds while all that has happened is known and nothing of it has stirred the list, which was whole and at rest. Lets go of
/// the list itself, which may be large.
class unchanged final : public validity {
 public:
  unchanged(std::shared_ptr<const stillness> folders, std::shared_ptr<const stir_count> stirs, std::uint64_t then)
      : folders_(std::move(folders)), stirs_(std::move(stirs)), then_(then) {}

  [[nodiscard]] bool holds() const noexcept override {
    // In this order: what has been passed on has been counted.
    return folders_->is_still() && stirs_->load() == then_;
  }

 private:
  std::shared_ptr<const stillness> folders_;
  std::shared_ptr<const stir_count> stirs_;
  std::uint64_t then_;
};

}  // namespace hondana::files
