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

/// Counts the changes in watched folders, and makes validators for files in them.
///
/// A file that was checked a moment ago is unchanged if three conditions hold. No event waits in the kernel's queue. Every
/// event taken from the queue has been counted. The counters of the file and of the folders above it have not grown. This
/// suffices because the kernel queues an event before the system call that causes it returns.
/// Some changes cause no event: writes through memory mappings, through another hard link, through another mount, or by other
/// machines. The same applies to rules outside a file's folders. Such changes show after at most 20 ms, because the file is
/// then checked again.
/// Threads: any. `counting_scope` and its counting: one at a time.
class change_tracker : public std::enable_shared_from_this<change_tracker> {
 public:
  /// `folders`: the folders whose events are counted here.
  explicit change_tracker(std::shared_ptr<const watch::watched_folders> folders) : folders_(std::move(folders)) {}

  /// A scope that begins before events are taken from the queue, and ends when all of them are counted.
  class counting_scope {
   public:
    explicit counting_scope(change_tracker& tracker) noexcept : tracker_(tracker) {
      tracker_.is_counting_.store(true, std::memory_order_seq_cst);
    }
    counting_scope(const counting_scope&) = delete;
    counting_scope& operator=(const counting_scope&) = delete;
    ~counting_scope() { tracker_.is_counting_.store(false, std::memory_order_release); }
    /// Counts a change at a path of a tree: that path and everything below it may differ.
    void count(std::size_t tree, std::string_view path) noexcept;
    /// Counts a change that may concern any path.
    void count_all() noexcept { tracker_.global_count_.fetch_add(1, std::memory_order_relaxed); }

   private:
    change_tracker& tracker_;
  };

  /// A validator for a reading of a file that begins after this call. Null if a folder on the path is not watched, or the path
  /// is too deep. Links on the path are not considered.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator(std::size_t tree, std::string_view path) const;
  /// Whether `make_validator` could succeed, provided that the folders on the path are watched.
  [[nodiscard]] static bool can_validate(std::string_view path) noexcept;

 private:
  class file_validator;
  static constexpr std::size_t max_depth = 16;  // folders above a file, including the root
  static constexpr std::size_t counter_count = 4096;
  /// The counters of a path and of the folders above it. Paths may share a counter, which only causes unnecessary checks.
  struct counter_path {
    std::array<std::uint16_t, max_depth + 1> indices{};
    std::size_t length = 0;
  };
  /// Empty (`length` is 0) if the path is too deep.
  [[nodiscard]] static counter_path counters_of(std::size_t tree, std::string_view path) noexcept;
  /// The sum of all counters of a path. Equal sums mean that none has grown.
  [[nodiscard]] std::uint64_t sum_of(const counter_path& counters) const noexcept;

  const std::shared_ptr<const watch::watched_folders> folders_;
  std::atomic<bool> is_counting_{false};
  std::atomic<std::uint64_t> global_count_{0};
  std::array<std::atomic<std::uint64_t>, counter_count> counts_{};
};

/// Tells whether every event so far has been delivered. The watcher's thread updates it; cached lists query it.
///
/// If the kernel's queue is empty, and after that no event is being delivered, then all earlier events have been delivered. An
/// event is queued before the system call that causes it returns, and is taken from the queue after `begin_delivery`. Changes
/// that cause no event, such as a replaced root, were checked for at most 20 ms ago.
/// Threads: any. Calls never wait.
class delivery_monitor {
 public:
  using clock = monotonic_clock;

  /// `wakeup`: an eventfd that is signalled to request a check of the roots.
  explicit delivery_monitor(int wakeup) noexcept : wakeup_(wakeup) {}

  /// From now on `folders` watches every root. It must outlive this object.
  void start(const watch::watched_folders& folders) noexcept {
    folders_ = &folders;
    is_active_ = true;
  }
  /// From now on, and for good, that is no longer the case.
  void stop() noexcept { is_active_ = false; }
  /// Called before events are taken from the queue, and after they have been delivered.
  void begin_delivery() noexcept { is_delivering_ = true; }
  void end_delivery() noexcept { is_delivering_ = false; }
  /// A check of all roots, which began at `time`, has finished.
  void record_check(clock::time_point time) noexcept { last_check_ = time.time_since_epoch().count(); }
  /// Whether a check was requested. Resets the request.
  [[nodiscard]] bool consume_check_request() noexcept { return is_check_requested_.exchange(false); }

  /// Whether every event of the kernel so far has been delivered.
  [[nodiscard]] bool has_caught_up() const noexcept {
    const auto* folders = folders_.load();
    return folders == nullptr || (folders->is_idle() && !is_delivering_);
  }
  /// Whether no change has gone unnoticed. Callers read their change counter before they read the files, and compare it after
  /// this call.
  [[nodiscard]] bool is_up_to_date() const noexcept {
    if (!is_active_) return false;
    const auto last_check = last_check_.load();
    const auto age = clock::now() - clock::time_point(clock::duration(last_check));
    if (last_check == 0 || age > max_check_age) return false;
    // Requested in time, so that frequent callers never find the last check too old.
    if (age > max_check_age / 2 && !is_check_requested_.exchange(true)) (void)::eventfd_write(wakeup_, 1);
    return folders_.load()->is_idle() && !is_delivering_;
  }

 private:
  static constexpr std::chrono::milliseconds max_check_age{20};

  const int wakeup_;
  std::atomic<const watch::watched_folders*> folders_{nullptr};
  std::atomic<bool> is_active_{false};
  std::atomic<bool> is_delivering_{false};
  std::atomic<clock::rep> last_check_{0};  // 0: never
  mutable std::atomic<bool> is_check_requested_{false};
};

/// Counts the beginnings of changes that may affect the list. Shared with the pages that were made from the list.
using change_counter = std::atomic<std::uint64_t>;

/// Valid while every change is known and none has affected the list, which was complete and idle. Does not own the list itself,
/// which may be large.
class list_validator final : public cache_validator {
 public:
  list_validator(std::shared_ptr<const delivery_monitor> monitor, std::shared_ptr<const change_counter> counter,
                 std::uint64_t initial_count)
      : monitor_(std::move(monitor)), counter_(std::move(counter)), initial_count_(initial_count) {}

  [[nodiscard]] bool is_valid() const noexcept override {
    // In this order: events that have been delivered have also been counted.
    return monitor_->is_up_to_date() && counter_->load() == initial_count_;
  }

 private:
  std::shared_ptr<const delivery_monitor> monitor_;
  std::shared_ptr<const change_counter> counter_;
  std::uint64_t initial_count_;
};

}  // namespace hondana::files
