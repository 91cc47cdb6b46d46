/// Watches the served folders for changes, and notifies the server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/freshness.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// One thread, started with the first folder that is walked or the first file that is watched. Threads: any.
///
/// A root on a network file system is polled every `options::refresh_after`, because the kernel does not report changes by
/// other machines. The same applies when this user may watch no more folders. The log says so once. As often, each root is
/// checked for being deleted or replaced: the kernel sends no event for a folder that is still open.
class watching {
 public:
  /// Callbacks besides the server's listener, called by the thread.
  struct ears {
    std::function<void(const std::shared_ptr<const root>&, const std::string& path, bool may_be_names)> changed;
    std::function<void()> stirred;  ///< A file is being written. `changed` follows when the writing has stopped.
    std::function<void()> lost;     ///< Anything may have changed.
    std::function<std::string(std::string_view uri)> title_of;
  };

  watching(root_list roots, const options& all, ears to);
  /// Stops the thread. Leaves it behind if it is stuck in a system call for more than a second.
  ~watching();
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

  /// Sets the listener for changes; null: none.
  void tell(std::shared_ptr<change_listener> to);
  /// Watches `uri`, which names `path` in `of`.
  void attach(const std::string& uri, std::shared_ptr<const root> of, std::string path);
  void detach(const std::string& uri);
  /// A folder is about to be listed: changes in it are reported from now on.
  void cover(const root& of, const std::string& path);
  /// Vouches for a reading of a file that begins after this call; see `freshness::vouch`. Also null if the kernel does not
  /// watch the root.
  [[nodiscard]] std::shared_ptr<const validity> vouch(const root& of, const std::string& path) const;
  /// A file is read repeatedly: the folders on its path are watched from now on, as far as possible.
  void watch_way_to(const root& of, const std::string& path);
  /// Checks whether a root was replaced or removed. If so, logs that, and has everything checked again.
  void follow(const root& of);
  /// The same for every root.
  void follow();
  /// Waits until the indexer has been notified of every change before this call, at most until `until`.
  void catch_up(const call& by, monotonic_clock::time_point until) const;
  /// The pointer keeps the state of the watcher alive.
  [[nodiscard]] std::shared_ptr<const stillness> still() const;
  /// Notifies the listener that the list has changed.
  void names_changed();
  /// Whether the kernel watches every root.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
