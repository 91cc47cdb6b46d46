/// The watcher's thread, the state it shares, and the URIs that clients watch.
#pragma once

#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "os/disk/file_stamp.hpp"
#include "os/watch/debounce.hpp"
#include "os/watch/inotify.hpp"
#include "sources/files/freshness.hpp"
#include "sources/files/root.hpp"
#include "sources/files/watcher.hpp"

namespace hondana::files {

/// A task for the thread.
struct errand {
  enum class kind { attach, detach, look_below } what = kind::attach;
  std::string uri;
  std::shared_ptr<const root> of;
  std::string path;
  std::int64_t since = 0;  ///< By `disk::wall_clock`.
};

/// The URIs that clients watch, and the paths that they depend on. Threads: one at a time.
class attached {
 public:
  /// Begins to watch `uri`, which names `path` in `of`. True if it has changed since `since` (by `wall_clock`), judged by time
  /// stamps. These move in ticks, so in doubt the answer is true.
  [[nodiscard]] bool add(const std::string& uri, std::shared_ptr<const root> of, const std::string& path, std::int64_t since);
  void remove(const std::string& uri);

  /// The URIs that a change at `path` concerns: those with that path, also through a link, and the folder around it, whose
  /// content lists it. With `below`, also those below the path.
  [[nodiscard]] std::vector<std::string> at(const root& of, const std::string& path, bool below) const;
  /// All URIs of a root.
  [[nodiscard]] std::vector<std::string> of(const root& which) const;
  /// Checks the file again. True if clients must be notified, also if the stamp cannot show a change.
  [[nodiscard]] bool has_changed(const std::string& uri);
  /// Whether it leads through a link, or did before the last check, and so is another name of a file that may have changed.
  [[nodiscard]] bool is_alias(const std::string& uri) const;
  /// Whether it is, or was, a folder whose content includes `path`.
  [[nodiscard]] bool shows(const std::string& uri, const root& of, const std::string& path) const;

  [[nodiscard]] std::size_t size() const noexcept { return by_uri_.size(); }

 private:
  using key = std::pair<const root*, std::string>;
  struct entry {
    std::shared_ptr<const root> of;
    std::string path;
    std::optional<disk::stamp> state;  // absent: it did not exist
    bool is_folder = false;
    bool is_alias = false;
    std::vector<std::string> ways;  // its path, the links on it, and its real path
  };

  /// Reads the state of the file, and records the paths that lead to it.
  void look(const std::string& uri, entry& one);
  void forget_ways(const std::string& uri, const entry& one);

  std::unordered_map<std::string, entry> by_uri_;
  std::multimap<key, std::string> by_path_;
};

/// The folder that contains a path; empty: the root.
[[nodiscard]] inline std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

struct watching::state : std::enable_shared_from_this<state> {
  state(root_list served, const options& all, watching::ears with)
      : roots(std::move(served)), configured(all), to(std::move(with)), polled(roots.size(), false), device(roots.size(), 0) {}
  ~state() {
    if (bell >= 0) ::close(bell);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const root_list roots;
  const options configured;
  const watching::ears to;
  int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  mutable std::mutex mutex;
  std::condition_variable left;
  std::condition_variable_any turned;  // notified after each iteration of the thread
  std::shared_ptr<change_listener> listener;
  using errand_list = std::list<errand>;
  errand_list errands;
  // Errands of URIs that the thread does not watch yet. Detaching removes the errand, so that short-lived ones do not pile up.
  std::unordered_map<std::string, errand_list::iterator> begun;
  std::vector<bool> polled;   // roots without kernel events
  std::vector<dev_t> device;  // of each root
  std::size_t attached_count = 0;
  bool is_started = false;
  bool is_running = false;
  bool is_ending = false;
  bool is_silent = false;  // the log may no longer exist
  std::mutex log_mutex;

  // Set before the thread starts. Shared with walks, and with readings that are still vouched for.
  std::shared_ptr<watch::folders> folders;
  std::shared_ptr<freshness> fresh;  // set if `folders` is
  stillness still{bell};
  // Only used by the thread:
  attached watched;
  watch::settling<watch::place_in_tree, watch::place_hash> settling;
  std::chrono::steady_clock::time_point next_look = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::time_point next_follow = monotonic_clock::now();

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (configured.log && !is_silent) configured.log(line);
  }
  void ring() const noexcept { (void)::eventfd_write(bell, 1); }  // fails if full: then it is already signalled
  [[nodiscard]] std::optional<std::size_t> number_of(const root& of) const {
    const auto found = std::find_if(roots.begin(), roots.end(), [&of](const auto& one) { return one.get() == &of; });
    if (found == roots.end()) return std::nullopt;
    return static_cast<std::size_t>(found - roots.begin());
  }

  /// The result of asking the kernel to watch a folder.
  struct outcome {
    enum class kind { watched, gone, remote, refused } what = kind::watched;
    int error = 0;  ///< An errno, if it was refused.
  };
  bool start(std::unique_lock<std::mutex>& lock);
  bool hears_of(std::size_t which);
  outcome add(std::size_t which, const std::string& path);
  void follow(std::size_t which);
  void follow_all();
  void look_from_now_on(std::size_t which, const std::string& why);
  void say_polled(std::size_t which, const std::string& why);
  void run();
  void turn();
  bool hear_some();
  bool take_some(std::vector<watch::happening>& happened, bool& is_lost);
  void run_errands();
  void hear(watch::happening what);
  void hear_changed(std::size_t tree, const std::string& path, bool below, bool may_be_names);
  void look_at(const std::vector<std::string>& uris, const root* around = nullptr, const std::string& path = {});
  void look_everywhere();
  void look_at_polled();
  void tell_content(const std::string& uri);
  [[nodiscard]] std::chrono::steady_clock::time_point next_turn() const;
};

}  // namespace hondana::files
