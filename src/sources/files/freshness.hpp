/// Tells, by kernel events, whether files and lists are unchanged since they were read.
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

/// Counts the changes in watched folders, and vouches that a reading of a file in them is still current.
///
/// A file that was checked a moment ago is unchanged if three conditions hold. No event waits in the kernel's queue. Every
/// event taken from the queue has been counted. The counters of the file and of the folders above it have not grown. This
/// suffices because the kernel queues an event before the system call that causes it returns.
/// Some changes cause no event: writes through memory mappings, through another hard link, through another mount, or by other
/// machines. The same applies to rules outside a file's folders. Such changes show after `longest` at the latest, because the
/// file is then checked again.
/// Threads: any. `hearing` and its counting: one at a time.
class freshness : public std::enable_shared_from_this<freshness> {
 public:
  /// `heard`: the folders whose events are counted here.
  explicit freshness(std::shared_ptr<const watch::folders> heard) : heard_(std::move(heard)) {}

  /// A scope that begins before events are taken from the queue, and ends when all of them are counted.
  class hearing {
   public:
    explicit hearing(freshness& of) noexcept : of_(of) { of_.is_hearing_.store(true, std::memory_order_seq_cst); }
    hearing(const hearing&) = delete;
    hearing& operator=(const hearing&) = delete;
    ~hearing() { of_.is_hearing_.store(false, std::memory_order_release); }
    /// Counts a change at a path of a tree: that path and everything below it may differ.
    void count(std::size_t tree, std::string_view path) noexcept;
    /// Counts a change that may concern any path.
    void count_all() noexcept { of_.of_all_.fetch_add(1, std::memory_order_relaxed); }

   private:
    freshness& of_;
  };

  /// Vouches for a reading of a file that begins after this call. Null if a folder on the path is not watched, or the path is
  /// too deep. Links on the path are not considered.
  [[nodiscard]] std::shared_ptr<const validity> vouch(std::size_t tree, std::string_view path) const;
  /// Whether `vouch` could succeed, provided that the folders on the path are watched.
  [[nodiscard]] static bool can_vouch(std::string_view path) noexcept;

 private:
  class voucher;
  static constexpr std::size_t deepest = 16;  // folders above a file, including the root
  static constexpr std::size_t places = 4096;
  /// The counters of a path and of the folders above it. Paths may share a counter, which only causes unnecessary checks.
  struct chain {
    std::array<std::uint16_t, deepest + 1> at{};
    std::size_t length = 0;
  };
  /// Empty (`length` is 0) if the path is too deep.
  [[nodiscard]] static chain chain_of(std::size_t tree, std::string_view path) noexcept;
  /// The sum of all counters of a path. Equal sums mean that none has grown.
  [[nodiscard]] std::uint64_t sum_of(const chain& what) const noexcept;

  const std::shared_ptr<const watch::folders> heard_;
  std::atomic<bool> is_hearing_{false};
  std::atomic<std::uint64_t> of_all_{0};
  std::array<std::atomic<std::uint64_t>, places> counts_{};
};

/// Tells whether every event so far has been passed on. The watcher's thread updates it; cached lists query it.
///
/// If the kernel's queue is empty, and after that no event is being passed on, then all earlier events have been. An event is
/// queued before the system call that causes it returns, and is taken from the queue after `begin_hearing`. Changes that cause
/// no event, such as a replaced root, were checked for at most 20 ms ago.
/// Threads: any. Calls never wait.
class stillness {
 public:
  using clock = monotonic_clock;

  /// `bell`: an eventfd that is signalled when a check of the roots is wanted.
  explicit stillness(int bell) noexcept : bell_(bell) {}

  /// From now on `all` watches every root. It must outlive this object.
  void begin(const watch::folders& all) noexcept {
    folders_ = &all;
    is_on_ = true;
  }
  /// From now on, and for good, that is no longer the case.
  void end() noexcept { is_on_ = false; }
  /// Called before events are taken from the queue, and after they have been passed on.
  void begin_hearing() noexcept { hears_ = true; }
  void end_hearing() noexcept { hears_ = false; }
  /// A check of all roots, which began at `when`, has finished.
  void looked(clock::time_point when) noexcept { looked_ = when.time_since_epoch().count(); }
  /// Whether a check is wanted. Resets the request.
  [[nodiscard]] bool takes_look() noexcept { return look_wanted_.exchange(false); }

  /// Whether every event of the kernel so far has been passed on.
  [[nodiscard]] bool has_caught_up() const noexcept {
    const auto* all = folders_.load();
    return all == nullptr || (all->is_silent() && !hears_);
  }
  /// Whether no change has gone unnoticed. Callers read their change counter before they read the files, and compare it after
  /// this call.
  [[nodiscard]] bool is_still() const noexcept {
    if (!is_on_) return false;
    const auto last = looked_.load();
    const auto age = clock::now() - clock::time_point(clock::duration(last));
    if (last == 0 || age > longest_trust) return false;
    // Requested in time, so that frequent callers never find the last check too old.
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

/// Counts the beginnings of changes that may affect the list. Shared with the pages that were made from the list.
using stir_count = std::atomic<std::uint64_t>;

/// Holds while every change is known and none has affected the list, which was complete and idle. Does not hold the list
/// itself, which may be large.
class unchanged final : public validity {
 public:
  unchanged(std::shared_ptr<const stillness> folders, std::shared_ptr<const stir_count> stirs, std::uint64_t then)
      : folders_(std::move(folders)), stirs_(std::move(stirs)), then_(then) {}

  [[nodiscard]] bool holds() const noexcept override {
    // In this order: events that have been passed on have also been counted.
    return folders_->is_still() && stirs_->load() == then_;
  }

 private:
  std::shared_ptr<const stillness> folders_;
  std::shared_ptr<const stir_count> stirs_;
  std::uint64_t then_;
};

}  // namespace hondana::files
