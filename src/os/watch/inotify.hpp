/// The kernel's queue of file events, and watched folders whose events are reported as paths.
#pragma once

#include <sys/inotify.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::watch {

/// An event as the kernel reports it. See inotify(7).
struct event {
  int watch = -1;          ///< The number of the folder's watch, from `inotify::add`; -1: the queue has overflowed.
  std::uint32_t mask = 0;  ///< Bits such as IN_CREATE.
  std::string_view name;   ///< Name in the folder; empty: the folder itself. Valid only during the callback.
};

/// Calls `on_event` for each event in the kernel's buffer `bytes`. Returns false if the last event is incomplete.
bool for_each_event(std::string_view bytes, const std::function<void(const event&)>& on_event);

/// An inotify instance: a queue of events of the watched folders. Threads: any, but `read` one at a time.
class inotify {
 public:
  /// Errors: source_unavailable, for example if this user has too many instances (fs.inotify.max_user_instances).
  [[nodiscard]] static result<inotify> open();
  inotify(inotify&& other) noexcept;
  inotify& operator=(inotify&&) = delete;
  ~inotify();

  /// Watches a folder, given by an open descriptor. Returns the number of the watch. Errors: an errno.
  /// ENOSPC: this user has too many watches (fs.inotify.max_user_watches).
  [[nodiscard]] tl::expected<int, int> add(int folder) const;
  /// Removes a watch. Does nothing if the kernel has already removed it.
  void remove(int watch) const noexcept;
  /// Readable when there are events.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Whether no events are pending. Events of a system call are pending before that call returns.
  /// Once true, the result stays true until the end of the calling thread's `executor::message_batch`.
  [[nodiscard]] bool is_idle() const noexcept;
  /// Calls `on_event` for the pending events, at most 64 KiB of them. Returns false if there were none. Does not block.
  bool read(const std::function<void(const event&)>& on_event);

 private:
  explicit inotify(int descriptor);
  int descriptor_;
  std::uint64_t id_;  // unique in this process
  std::vector<char> buffer_;
};

/// Makes a thread wait for file events, so that other threads can wake it. Threads: any, but `wait` one at a time.
class event_waiter {
 public:
  event_waiter() noexcept;

  /// Ends the current call of `wait`, or the next one.
  void wake() const noexcept;
  /// Waits until `queue` (a descriptor; -1: none) is readable, `wake` is called, or `deadline` has passed. Returns false if
  /// `deadline` has passed first. May also return earlier.
  bool wait(int queue, monotonic_clock::time_point deadline) const;
  /// The eventfd that `wake` signals.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  disk::handle event_;
};

/// An event with the path of the affected file or folder.
struct folder_event {
  enum class event_kind {
    closed,       ///< Closed by a program that had opened it for writing.
    modified,     ///< Written to, or its owner, mode or times were set; more events may follow.
    appeared,     ///< Created, and possibly still being written. A new folder may already have contents.
    moved_in,     ///< Renamed to this path; the content is complete.
    removed,      ///< Deleted, or renamed to another path.
    tree_removed  ///< The root of the tree was deleted, moved or unmounted.
  };
  std::size_t tree = 0;  ///< The number of the tree, as passed to `watched_folders::add`.
  std::string path;      ///< Relative to the root of its tree; empty: the root.
  event_kind kind = event_kind::modified;
  bool is_folder = false;  ///< `path` is a folder.
};

/// The watched folders of several trees. The caller numbers the trees. Threads: any, but `read` one at a time.
class watched_folders {
 public:
  /// `max_folders`: maximum number of watched folders.
  watched_folders(inotify queue, std::size_t max_folders) : queue_(std::move(queue)), max_folders_(max_folders) {}

  /// Watches a folder, given by an open descriptor. If it is watched already, `tree` and `path` replace its location.
  /// `path`: relative to the root of the tree; empty: the root.
  /// Returns 0, or an errno of `inotify::add`. ENOSPC can also mean that `max_folders` is reached.
  [[nodiscard]] int add(std::size_t tree, const std::string& path, int descriptor);
  /// Stops watching a folder and all folders below it.
  void remove(std::size_t tree, const std::string& path);
  /// Stops watching a whole tree.
  void remove(std::size_t tree);

  /// Readable when there are events.
  [[nodiscard]] int descriptor() const noexcept { return queue_.descriptor(); }
  /// See `inotify::is_idle`.
  [[nodiscard]] bool is_idle() const noexcept { return queue_.is_idle(); }
  /// Calls `on_event` for the pending events, at most 64 KiB of them, and `on_overflow` if the kernel has dropped some.
  /// Returns false if there were none. Does not block.
  bool read(const std::function<void(folder_event)>& on_event, const std::function<void()>& on_overflow);
  /// The number of watched folders.
  [[nodiscard]] std::size_t size() const;

  /// Whether a folder and all of its parents up to the root of its tree are watched.
  [[nodiscard]] bool is_watched(std::size_t tree, std::string_view path) const;
  /// A number that grows before a folder is unwatched or its location changes.
  /// While it is the same, true results of `is_watched` stay valid.
  [[nodiscard]] std::uint64_t loss_count() const noexcept { return loss_count_.load(std::memory_order_acquire); }

 private:
  struct location {
    std::size_t tree;
    std::string path;
  };
  [[nodiscard]] bool translate(const event& raw, folder_event& out);
  void record_loss() noexcept { loss_count_.fetch_add(1, std::memory_order_acq_rel); }
  void erase_range(std::map<std::pair<std::size_t, std::string>, int>::iterator begin,
                   std::map<std::pair<std::size_t, std::string>, int>::iterator end);

  inotify queue_;
  const std::size_t max_folders_;
  mutable std::mutex mutex_;
  std::unordered_map<int, location> by_watch_;
  std::map<std::pair<std::size_t, std::string>, int> by_path_;
  std::atomic<std::uint64_t> loss_count_{0};  // written under the lock
};

}  // namespace hondana::watch
