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

/// One thing that happened. See inotify(7).
struct event {
  int watch = -1;          ///< Of the folder; -1 for a queue that has overflowed.
  std::uint32_t what = 0;  ///< Bits such as IN_CREATE.
  std::string_view name;   ///< In the folder; empty: the folder itself. Lives as long as the call that hands it over.
};

/// Cuts what the kernel wrote into events. False when it ends inside one; what came before has been handed over.
bool each_event(std::string_view bytes, const std::function<void(const event&)>& take);

/// One inotify instance. Threads: `add` and `remove` any, `read` one at a time.
class inotify {
 public:
  /// Errors: source_unavailable when this user has too many instances (fs.inotify.max_user_instances).
  [[nodiscard]] static result<inotify> open();
  inotify(inotify&& other) noexcept;
  inotify& operator=(inotify&&) = delete;
  ~inotify();

  /// Watches a folder by any descriptor of it. The error is an errno: ENOSPC when this user watches as much as he may
  /// (fs.inotify.max_user_watches).
  [[nodiscard]] tl::expected<int, int> add(int folder) const;
  void remove(int watch) const noexcept;
  /// Readable when something has happened.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Whether nothing that has happened waits to be read. What a system call does to a watched folder waits before that call
  /// returns. In a `executor::round` this is true until its end once it is.
  [[nodiscard]] bool is_silent() const noexcept;
  /// Hands over what has happened so far, at most 64 KiB of it. False when there was nothing.
  bool read(const std::function<void(const event&)>& take);

 private:
  explicit inotify(int descriptor);
  int descriptor_;
  std::uint64_t id_;  // no other has it
  std::vector<char> buffer_;
};

/// Something happened to what a path names.
struct happening {
  enum class kind {
    closed,    ///< Closed after writing.
    modified,  ///< Written to, or its owner, mode or times were set; more may follow.
    appeared,  ///< Made, and perhaps still being written; a folder may already hold something.
    moved_in,  ///< Renamed to this, whole.
    gone,      ///< Deleted, or renamed to something else.
    tree_gone  ///< The tree's own top has been deleted, moved or unmounted.
  };
  std::size_t tree = 0;
  std::string path;  ///< Relative to the top of its tree.
  kind what = kind::modified;
  bool is_folder = false;
};

/// Which folders are watched, in both directions. Threads: any, but `read` one at a time.
class folders {
 public:
  /// At most `most` folders are watched.
  folders(inotify queue, std::size_t most) : queue_(std::move(queue)), most_(most) {}

  /// Watches a folder by any descriptor of it; of one that is watched already, the path is now this one. 0, or an errno as of
  /// `inotify::add`, ENOSPC also at our own limit.
  [[nodiscard]] int add(std::size_t tree, const std::string& path, int descriptor);
  /// Forgets a folder and all below it.
  void forget(std::size_t tree, const std::string& path);
  /// Forgets a whole tree.
  void forget(std::size_t tree);

  [[nodiscard]] int descriptor() const noexcept { return queue_.descriptor(); }
  /// See `inotify::is_silent`.
  [[nodiscard]] bool is_silent() const noexcept { return queue_.is_silent(); }
  /// Hands over what has happened, and calls `lost` when the kernel had to drop some of it. False when there was nothing.
  bool read(const std::function<void(happening)>& take, const std::function<void()>& lost);
  [[nodiscard]] std::size_t size() const;

  /// Whether a folder and all those above it up to the top of its tree are watched.
  [[nodiscard]] bool reaches(std::size_t tree, std::string_view path) const;
  /// Grows before a folder is watched no more, or under another path: what `reaches` said holds while this is the same.
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
