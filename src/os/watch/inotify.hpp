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

#include <hondana/error.hpp>

namespace hondana::watch {

/// A raw event. See inotify(7).
struct event {
  int watch = -1;          ///< The watch of the folder; -1 if the queue has overflowed.
  std::uint32_t what = 0;  ///< Bits such as IN_CREATE.
  std::string_view name;   ///< Name in the folder; empty: the folder itself. Valid only during the callback.
};

/// Splits the kernel's buffer into events. Returns false if the last event is incomplete; earlier events have been reported.
bool each_event(std::string_view bytes, const std::function<void(const event&)>& take);

/// An inotify instance. Threads: `add` and `remove` any, `read` one at a time.
class inotify {
 public:
  /// Errors: source_unavailable when this user has too many instances (fs.inotify.max_user_instances).
  [[nodiscard]] static result<inotify> open();
  inotify(inotify&& other) noexcept;
  inotify& operator=(inotify&&) = delete;
  ~inotify();

  /// Watches a folder, given by a descriptor. Returns the watch, or an errno.
  /// ENOSPC: the limit of watches of this user is reached (fs.inotify.max_user_watches).
  [[nodiscard]] tl::expected<int, int> add(int folder) const;
  void remove(int watch) const noexcept;
  /// Readable when there are events.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Whether no events are pending. Events of a system call are pending before that call returns.
  /// Within an `executor::round`, the result stays true once it is true.
  [[nodiscard]] bool is_silent() const noexcept;
  /// Reports the pending events, at most 64 KiB of them. Returns false when there were none.
  bool read(const std::function<void(const event&)>& take);

 private:
  explicit inotify(int descriptor);
  int descriptor_;
  std::uint64_t id_;  // unique in this process
  std::vector<char> buffer_;
};

/// An event with the path of the affected file.
struct happening {
  enum class kind {
    closed,    ///< Closed after writing.
    modified,  ///< Written to, or its owner, mode or times were set; more events may follow.
    appeared,  ///< Created, and possibly still being written. A new folder may already have contents.
    moved_in,  ///< Renamed to this path; the content is complete.
    gone,      ///< Deleted, or renamed to another path.
    tree_gone  ///< The root of the tree was deleted, moved or unmounted.
  };
  std::size_t tree = 0;
  std::string path;  ///< Relative to the root of its tree.
  kind what = kind::modified;
  bool is_folder = false;
};

/// The watched folders, by watch and by path. Threads: any, but `read` one at a time.
class folders {
 public:
  /// `most`: maximum number of watched folders.
  folders(inotify queue, std::size_t most) : queue_(std::move(queue)), most_(most) {}

  /// Watches a folder, given by a descriptor. If it is watched already, its path becomes `path`.
  /// Returns 0, or an errno as `inotify::add` does. ENOSPC also means that our own limit is reached.
  [[nodiscard]] int add(std::size_t tree, const std::string& path, int descriptor);
  /// Stops watching a folder and all folders below it.
  void forget(std::size_t tree, const std::string& path);
  /// Stops watching a whole tree.
  void forget(std::size_t tree);

  [[nodiscard]] int descriptor() const noexcept { return queue_.descriptor(); }
  /// See `inotify::is_silent`.
  [[nodiscard]] bool is_silent() const noexcept { return queue_.is_silent(); }
  /// Reports pending events, and calls `lost` if the kernel has dropped some. Returns false when there were none.
  bool read(const std::function<void(happening)>& take, const std::function<void()>& lost);
  [[nodiscard]] std::size_t size() const;

  /// Whether a folder and all of its parents up to the root of its tree are watched.
  [[nodiscard]] bool reaches(std::size_t tree, std::string_view path) const;
  /// Grows before a folder is unwatched or its path changes. Results of `reaches` are valid while this value is unchanged.
  [[nodiscard]] std::uint64_t losses() const noexcept { return losses_.load(std::memory_order_acquire); }

 private:
  struct place {
    std::size_t tree;
    std::string path;
  };
  [[nodiscard]] bool translate(const event& from, happening& into);
  void lose() noexcept { losses_.fetch_add(1, std::memory_order_acq_rel); }
  void drop(std::map<std::pair<std::size_t, std::string>, int>::iterator begin,
            std::map<std::pair<std::size_t, std::string>, int>::iterator end);

  inotify queue_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<int, place> by_watch_;
  std::map<std::pair<std::size_t, std::string>, int> by_path_;
  std::atomic<std::uint64_t> losses_{0};  // written under the lock
};

}  // namespace hondana::watch
