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
/// A root is looked at every `options::refresh_after` instead of being watched when it is on a network file system, whose
/// changes by others the kernel does not hear of, and when this user may watch no more folders; the log says so once. Whether
/// it is still where it was is looked at as often: a folder that is held open makes no sound when it is deleted.
class watching {
 public:
  /// What a change is told to besides the server; called by the thread.
  struct ears {
    std::function<void(const std::shared_ptr<const root>&, const std::string& path, bool may_be_names)> changed;
    std::function<void()> stirred;  ///< Something is being written, of which `changed` tells when it has come to rest.
    std::function<void()> lost;     ///< Anything may have changed.
    std::function<std::string(std::string_view uri)> title_of;
  };

  watching(root_list roots, const options& all, ears to);
  /// Ends the thread; leaves it behind when it is stuck in a system call for more than a second.
  ~watching();
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

  /// To whom changes are told; null: to nobody.
  void tell(std::shared_ptr<change_listener> to);
  /// `path` in `of` is what `uri` names.
  void attach(const std::string& uri, std::shared_ptr<const root> of, std::string path);
  void detach(const std::string& uri);
  /// A folder is about to be listed: what happens in it from now on is heard.
  void cover(const root& of, const std::string& path);
  /// Vouches for a reading of a file that is begun after this call; see `freshness::vouch`. Null also where the kernel does not
  /// watch for us.
  [[nodiscard]] std::shared_ptr<const validity> vouch(const root& of, const std::string& path) const;
  /// A file is read again and again: the folders on the way to it are watched from now on, as far as that can be had.
  void watch_way_to(const root& of, const std::string& path);
  /// Looks whether another folder stands where a root was, or none: the log says so, and everything is looked at again.
  void follow(const root& of);
  /// The same of every root.
  void follow();
  /// Waits until the indexer has been told of every change before this call; until `until` at most.
  void catch_up(const call& by, monotonic_clock::time_point until) const;
  /// Lives as long as it is held.
  [[nodiscard]] std::shared_ptr<const stillness> still() const;
  void names_changed();
  /// Whether every root is watched by the kernel.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
