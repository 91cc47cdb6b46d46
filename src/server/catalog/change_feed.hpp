/// Passes changes from sources to listeners, and coalesces frequent changes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/executor/batching.hpp"
#include "base/executor/timers.hpp"
#include "protocol/model/operations.hpp"
#include "server/gate/gate.hpp"

namespace hondana::catalog {

/// A URI without its query, which names a part of the resource.
[[nodiscard]] inline std::string_view resource_in(std::string_view uri) { return uri.substr(0, uri.find('?')); }
[[nodiscard]] inline std::string resource_of(std::string_view uri) { return std::string(resource_in(uri)); }
/// The query with its question mark; empty if there is none.
[[nodiscard]] inline std::string_view part_in(std::string_view uri) { return uri.substr(resource_in(uri).size()); }

/// Receives changes. Called from any thread while a change is published, or on its event loop. Must only take a note and
/// return.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;
  virtual void heard(const model::change& what) = 0;
  /// Prefetches the memory that `heard` needs, if many listeners are notified in a row. The listener itself is prefetched
  /// already.
  virtual void come_near() const noexcept {}
  /// The event loop on which it wants to be notified; queried when it joins. Null: the publishing thread.
  [[nodiscard]] virtual std::shared_ptr<executor::turns> place() const { return nullptr; }
  /// Whether it may be notified of changes of a URI that it watches. Queried when the watch begins, and by `feed::reconsider`.
  /// Until it may, the source is not attached for it. Called without a lock, so it may take some time.
  [[nodiscard]] virtual bool may_hear(std::string_view uri) const {
    (void)uri;
    return true;
  }
  /// The access rules have changed.
  virtual void rules_changed(const std::shared_ptr<const gate::gate>& now) { (void)now; }
  /// A log message. Listeners that do not forward log messages ignore it.
  virtual void told(const model::log_message& what) { (void)what; }
};

/// The listeners of one server. Outlives all configurations of its sources. Threads: any.
class feed {
 public:
  /// `byte_cap`: limit of the memory of all watches together, in bytes of `cost_of`.
  explicit feed(std::size_t byte_cap = 64u << 20) noexcept : byte_cap_(byte_cap) {}
  feed(const feed&) = delete;
  feed& operator=(const feed&) = delete;

  /// Notifies `who` of changed lists until it is destroyed or leaves. With `of_resources` false, it forwards only lists of
  /// tools and prompts.
  void join(const std::shared_ptr<listener>& who, bool of_resources = true);
  /// Sets a callback for when a URI, of a resource or a part, gets its first listener, and after it has lost its last one.
  /// Called without any lock. Set it before the first listener joins.
  void on_interest(std::function<void(const std::string& uri)> changed) { on_interest_ = std::move(changed); }

  /// The same for the list of resources: its first listener that forwards changes, and the last.
  void on_list_interest(std::function<void()> changed) { on_list_interest_ = std::move(changed); }

  /// Notifies `who` of changed contents of `uri` (canonical), which need not exist. A URI with a query is a part of a resource,
  /// and changes when the whole does. Returns false, without effect, if all listeners together reach `byte_cap`, or this one a
  /// quarter of it.
  [[nodiscard]] bool watch(const std::shared_ptr<listener>& who, const std::string& uri);
  void unwatch(const listener& who, const std::string& uri);
  /// Calls `may_hear` of `who` again for all its watches.
  void reconsider(const listener& who);
  /// Notifies every listener of new access rules.
  void rules_changed(const std::shared_ptr<const gate::gate>& now) const;
  /// Removes `who` and all its watches.
  void leave(const listener& who);

  /// Notifies all listeners concerned before it returns, except those on event loops: each loop gets one job, which notifies
  /// its listeners in slices. A change of content concerns those that watch the URI. If the URI has no query, it also concerns
  /// those that watch a part, unless the change is exact.
  void publish(const model::change& what);
  /// Whether any listener watches a resource (a URI without query), or a part of it.
  [[nodiscard]] bool is_watched(const std::string& resource) const;
  /// Whether any listener watches exactly this URI, with or without a query.
  [[nodiscard]] bool is_part_watched(const std::string& uri) const;
  /// Whether any listener forwards changes of the list of resources.
  [[nodiscard]] bool is_list_watched() const;
  /// All watched URIs, with queries.
  [[nodiscard]] std::vector<std::string> watched_uris() const;
  /// Sends a log message to every listener that has joined.
  void publish(const model::log_message& what);

  /// Bytes of one more watch of `uri`, here and in its listener, which stores two spellings of it.
  [[nodiscard]] static std::size_t cost_of(const std::string& uri) noexcept { return 512 + 8 * uri.size(); }

  /// Numbers of listeners and watched URIs, for tests and metrics.
  [[nodiscard]] std::size_t listeners() const;
  [[nodiscard]] std::size_t watched() const;

 private:
  struct membership {
    std::weak_ptr<listener> who;
    std::weak_ptr<executor::turns> place;
    const executor::turns* place_name = nullptr;  // for comparison only
    bool hears_lists = false;
    bool hears_resources = false;  // joined for the list of resources too
    std::uint64_t asked = 0;       // changes whenever `may_hear` must be called again
    // Each watched URI, and whether the listener may be notified of it. A std::map, because most have one URI, and a hash table
    // would be larger.
    std::map<std::string, bool> uris;
    std::size_t bytes = 0;
  };
  /// A listener of a resource, with the number of its watched parts.
  struct watcher {
    std::size_t spellings = 0;
    const membership* of = nullptr;  // the address stays valid until the membership is erased
  };
  struct watchers {
    std::unordered_map<const listener*, watcher> who;
    // number of listeners by part: empty, or a query with its question mark
    std::map<std::string, std::size_t, std::less<>> parts;
  };
  class audience;

  membership& member(const std::shared_ptr<listener>& who);
  /// Returns true if this was the first watch of that URI (`hear`), or the last one (`unhear`).
  bool hear(const listener* who, const membership& one, const std::string& uri);
  bool unhear(const listener* who, const std::string& uri);
  /// Calls `may_hear` of `who` for a watched URI, and again if the rules changed meanwhile.
  void settle(const listener& who, const std::string& uri);
  void tell(const std::string& uri) const;

  const std::size_t byte_cap_;
  // Listeners that event loops have still to notify; shared with these loops.
  const std::shared_ptr<std::atomic<std::size_t>> queued_ = std::make_shared<std::atomic<std::size_t>>(0);
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::uint64_t askings_ = 0;
  std::unordered_map<const listener*, membership> members_;
  std::unordered_map<std::string, watchers> by_resource_;
  std::size_t list_watchers_ = 0;
  std::function<void(const std::string&)> on_interest_;
  std::function<void()> on_list_interest_;
};

/// Coalesces changes. The first change is passed on at once; the following ones are passed on as one change. For a resource
/// that is at the end of the window that the previous change opened. For a list it is after a quiet period, but no later than
/// the end of its longer window. The last change is always passed on. Memory: one note for each watched resource that changes.
/// Threads: any.
class coalescer : public std::enable_shared_from_this<coalescer> {
 public:
  struct windows {
    std::chrono::milliseconds resource{100};
    std::chrono::milliseconds quiet{250};
    std::chrono::milliseconds list{5'000};
  };

  coalescer(std::shared_ptr<feed> to, std::shared_ptr<executor::timers> timers, windows with);

  void take(const model::change& what);
  /// Number of resources that changed within the last window.
  [[nodiscard]] std::size_t size() const;

 private:
  using clock = executor::clock;
  struct note {
    bool is_pending = false;
    model::change latest;
  };
  struct due {
    clock::time_point when;
    std::string uri;
  };
  /// The window of one kind of list.
  struct list_window {
    bool is_open = false;
    bool is_pending = false;
    clock::time_point end;
    clock::time_point last;
  };

  void take_content(const model::change& what);
  void take_list(const model::change& what);
  /// Requires the lock.
  void arm_resources();
  void arm_list(model::change::what kind, clock::time_point when);
  void resources_due();
  void list_due(model::change::what kind);
  [[nodiscard]] list_window& window_of(model::change::what kind);

  const std::shared_ptr<feed> feed_;
  const std::shared_ptr<executor::timers> timers_;
  const windows within_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, note> recent_;
  std::deque<due> by_time_;  // one for each element of `recent_`
  bool is_armed_ = false;
  list_window resources_;
  list_window tools_;
  list_window prompts_;
};

}  // namespace hondana::catalog
