/// The kernel's queue of what happens in folders.
#pragma once

#include <sys/inotify.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <tl/expected.hpp>

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

}  // namespace hondana::watch
