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
/// machines. Changes of `.git/info/exclude` in a root cause none either. Such changes show after at most 20 ms, because the
/// file is then checked again.
/// Threads: any. `counting_scope`: one at a time.
class change_tracker : public std::enable_shared_from_this<change_tracker> {
 public:
  /// `folders`: the folders whose events the owner counts with `counting_scope`. Each of their trees is a root.
  explicit change_tracker(std::shared_ptr<const watch::watched_folders> folders) : folders_(std::move(folders)) {}

  /// Must exist while events are taken from the queue and counted. Meanwhile no validator is valid.
  class counting_scope {
   public:
    explicit counting_scope(change_tracker& tracker) noexcept : tracker_(tracker) {
      tracker_.is_counting_.store(true, std::memory_order_seq_cst);
    }
    counting_scope(const counting_scope&) = delete;
    counting_scope& operator=(const counting_scope&) = delete;
    ~counting_scope() { tracker_.is_counting_.store(false, std::memory_order_release); }
    /// Counts a change at a path of a tree: that path and everything below it may differ. A change of an ignore file or of a
    /// git directory also counts for its folder.
    void count(std::size_t tree, std::string_view path) noexcept;
    /// Counts a change that may concern any path.
    void count_all() noexcept { tracker_.global_count_.fetch_add(1, std::memory_order_relaxed); }

   private:
    change_tracker& tracker_;
  };

  /// A validator for a reading of a file that begins after this call. Null for the root itself, if the path is too deep, or if
  /// a folder on it is not watched. Callers must not use it for a path with links, or for a file with several hard links.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator(std::size_t tree, std::string_view path) const;
  /// Whether `make_validator` succeeds if all folders on the path are watched.
  [[nodiscard]] static bool can_validate(std::string_view path) noexcept;

 private:
  class file_validator;
  static constexpr std::size_t max_depth = 16;  // folders above a file, including the root
  static constexpr std::size_t counter_count = 4096;
  /// The counters of a path and of the folders above it, as indexes in `counts_`. Paths may share a counter, which only causes
  /// unnecessary checks.
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

/// Tells whether all kernel events so far have been delivered to the indexer. The watcher's thread updates it; validators of
/// cached lists query it.
///
/// If the kernel's queue is empty, and after that no event is being delivered, then all earlier events have been delivered. An
/// event is queued before the system call that causes it returns, and is taken from the queue after `begin_delivery`. The
/// replacement of a root may cause no event, so `is_up_to_date` also requires a check of the roots in the last 20 ms.
/// Threads: any. Calls never wait.
class delivery_monitor {
 public:
  using clock = monotonic_clock;

  /// `wakeup`: an eventfd that is signalled to request a check of the roots.
  explicit delivery_monitor(int wakeup) noexcept : wakeup_(wakeup) {}

  /// Activates `is_up_to_date`. `folders` must watch every root, and outlive this object.
  void start(const watch::watched_folders& folders) noexcept {
    folders_ = &folders;
    is_active_ = true;
  }
  /// Deactivates `is_up_to_date` for good, because not every root is watched any more.
  void stop() noexcept { is_active_ = false; }
  /// Must be called before events are taken from the queue.
  void begin_delivery() noexcept { is_delivering_ = true; }
  /// Must be called after these events have been delivered.
  void end_delivery() noexcept { is_delivering_ = false; }
  /// Records that a check of all roots, which began at `time`, has finished.
  void record_check(clock::time_point time) noexcept { last_check_ = time.time_since_epoch().count(); }
  /// Whether `is_up_to_date` has requested a check of the roots. Resets the request.
  [[nodiscard]] bool consume_check_request() noexcept { return is_check_requested_.exchange(false); }

  /// Whether every event of the kernel so far has been delivered. True before `start`.
  [[nodiscard]] bool has_caught_up() const noexcept {
    const auto* folders = folders_.load();
    return folders == nullptr || (folders->is_idle() && !is_delivering_);
  }
  /// Whether every change so far has been noticed. Never true before `start` or after `stop`. Callers must read their change
  /// counter before they read the files, and compare it after this call.
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

/// Grows before a change that may affect the list takes effect there. Shared with the validators of list pages.
using change_counter = std::atomic<std::uint64_t>;

/// A validator for a page of the list: valid while every change has been noticed and the counter is still `initial_count`. The
/// list must be complete and idle. Does not own the list, which may be large.
class list_validator final : public cache_validator {
 public:
  /// `initial_count`: the value of `counter` before the list was read.
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
