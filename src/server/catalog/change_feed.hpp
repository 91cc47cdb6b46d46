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

/// A URI without its query: the whole resource.
[[nodiscard]] inline std::string_view strip_query(std::string_view uri) { return uri.substr(0, uri.find('?')); }
/// A copy of `strip_query(uri)`.
[[nodiscard]] inline std::string resource_of(std::string_view uri) { return std::string(strip_query(uri)); }
/// The query with its question mark, which names a part of the resource. Empty: the whole resource.
[[nodiscard]] inline std::string_view query_of(std::string_view uri) { return uri.substr(strip_query(uri).size()); }

/// Receives changes from a `change_feed`. Except for `may_receive`, functions must only record the call and return.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;
  /// A list, or a watched resource, has changed. Called on the event loop of the listener, or on the publishing thread.
  virtual void on_change(const model::change& change) = 0;
  /// Prefetches memory that `on_change` needs, shortly before it is called. The feed has prefetched the listener itself.
  virtual void prefetch() const noexcept {}
  /// The event loop that calls `on_change`; read once, when the listener joins. Null: the publishing thread.
  [[nodiscard]] virtual std::shared_ptr<executor::step_executor> preferred_executor() const { return nullptr; }
  /// Whether the listener may be notified of changes of `uri`, which it watches. Called when the watch begins, and by
  /// `change_feed::recheck_access`. While it is false, the watch has no effect. Called without locks, so it may take some time.
  [[nodiscard]] virtual bool may_receive(std::string_view uri) const {
    (void)uri;
    return true;
  }
  /// The access rules have changed to those of `gate`. Called on the publishing thread.
  virtual void on_rules_changed(const std::shared_ptr<const gate::gate>& gate) { (void)gate; }
  /// A log message. Called on the publishing thread. Default: ignored.
  virtual void on_log_message(const model::log_message& message) { (void)message; }
};

/// Passes changes to the listeners of one server, across all configurations. It does not own listeners: each must be removed
/// before it is destroyed. Threads: any.
class change_feed {
 public:
  /// `max_bytes`: limit of the memory of all watches together, as `cost_of` counts it.
  explicit change_feed(std::size_t max_bytes = 64u << 20) noexcept : max_bytes_(max_bytes) {}
  change_feed(const change_feed&) = delete;
  change_feed& operator=(const change_feed&) = delete;

  /// Notifies `listener` of changed lists and of log messages until `remove_listener`. `includes_resources`: it needs changes
  /// of the list of resources, so sources must report them (see `on_list_interest`).
  void add_listener(const std::shared_ptr<listener>& listener, bool includes_resources = true);
  /// Sets a callback, which is called after a URI (of a resource or a part) has got its first watch or lost its last one.
  /// Called without locks. Set it before the first listener joins.
  void on_interest(std::function<void(const std::string& uri)> callback) { on_interest_ = std::move(callback); }

  /// Sets a callback, which is called after the first listener has joined for the list of resources, or the last one has left.
  /// Called without locks. Set it before the first listener joins.
  void on_list_interest(std::function<void()> callback) { on_list_interest_ = std::move(callback); }

  /// Notifies `listener` of changed contents of `uri` (canonical), which need not exist, until `unwatch`. A URI with a query is
  /// a part of a resource, and changes when the whole does. Returns true if it is watched already. Returns false, without
  /// effect, if all watches together would exceed `max_bytes`, or those of `listener` a quarter of it.
  [[nodiscard]] bool watch(const std::shared_ptr<listener>& listener, const std::string& uri);
  /// Ends a watch. No effect if there is none.
  void unwatch(const listener& listener, const std::string& uri);
  /// Calls `may_receive` of `listener` again for all of its watches.
  void recheck_access(const listener& listener);
  /// Calls `on_rules_changed` of every listener before it returns.
  void publish_rules(const std::shared_ptr<const gate::gate>& gate) const;
  /// Removes `listener` and all its watches.
  void remove_listener(const listener& listener);

  /// Notifies the listeners that a change concerns. It returns after it has notified those without an event loop. Each event
  /// loop gets one job, which notifies its listeners in slices.
  ///
  /// A change of a list concerns all listeners of `add_listener`. A change of content concerns those that watch the resource or
  /// a part of it; an exact change only those that watch exactly its URI.
  void publish(const model::change& change);
  /// Whether a listener watches a resource (a URI without query) or a part of it. This function and the next three ignore
  /// watches that `may_receive` forbids.
  [[nodiscard]] bool is_watched(const std::string& resource) const;
  /// Whether a listener watches exactly this URI, with or without a query.
  [[nodiscard]] bool is_part_watched(const std::string& uri) const;
  /// Whether a listener has joined for the list of resources.
  [[nodiscard]] bool is_list_watched() const;
  /// All watched URIs, of resources and parts.
  [[nodiscard]] std::vector<std::string> watched_uris() const;
  /// Passes a log message to every listener of `add_listener` before it returns.
  void publish(const model::log_message& message);

  /// Bytes that one more watch of `uri` uses, here and in its listener, which stores two spellings of it.
  [[nodiscard]] static std::size_t cost_of(const std::string& uri) noexcept { return 512 + 8 * uri.size(); }

  /// Number of listeners, for tests and metrics.
  [[nodiscard]] std::size_t listeners() const;
  /// Number of watched resources, for tests and metrics. A resource and its parts count once.
  [[nodiscard]] std::size_t watched() const;

 private:
  struct membership {
    std::weak_ptr<listener> target;
    std::weak_ptr<executor::step_executor> executor;
    const executor::step_executor* executor_id = nullptr;  // for comparison only
    bool wants_lists = false;                              // joined by `add_listener`
    bool wants_resources = false;                          // joined for the list of resources too
    std::uint64_t access_generation = 0;                   // changes whenever `may_receive` must be called again
    // Each watched URI, and whether the listener may be notified of it. A std::map, because most have one URI, and a hash table
    // would be larger.
    std::map<std::string, bool> uris;
    std::size_t bytes = 0;
  };
  /// A listener of a resource, with the number of its watched parts.
  struct watcher {
    std::size_t uri_count = 0;
    const membership* member = nullptr;  // the address stays valid until the membership is erased
  };
  struct resource_watchers {
    std::unordered_map<const listener*, watcher> listeners;
    // number of listeners by part: empty, or a query with its question mark
    std::map<std::string, std::size_t, std::less<>> parts;
  };
  class recipient_set;

  membership& member_of(const std::shared_ptr<listener>& listener);
  /// Requires the lock. Returns whether this is the first watch of that URI.
  bool add_watch(const listener* listener, const membership& member, const std::string& uri);
  /// Requires the lock. Returns whether this was the last watch of that URI.
  bool remove_watch(const listener* listener, const std::string& uri);
  /// Calls `may_receive` of `listener` for a watched URI, and again if the rules changed meanwhile.
  void update_access(const listener& listener, const std::string& uri);
  void notify_interest(const std::string& uri) const;

  const std::size_t max_bytes_;
  // Listeners that event loops have still to notify; shared with these loops.
  const std::shared_ptr<std::atomic<std::size_t>> queued_ = std::make_shared<std::atomic<std::size_t>>(0);
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::uint64_t access_generation_ = 0;
  std::unordered_map<const listener*, membership> members_;
  std::unordered_map<std::string, resource_watchers> by_resource_;
  std::size_t list_watchers_ = 0;
  std::function<void(const std::string&)> on_interest_;
  std::function<void()> on_list_interest_;
};

/// Passes changes to a feed, and combines frequent ones. The first change is passed on at once, and the following ones as one
/// change. For a resource, that is at the end of the window that the previous change opened. For a list, it is after a quiet
/// period, but no later than the end of a longer window. The last change is always passed on. Contents that no listener watches
/// are ignored. Memory: one record for each watched resource that changed within its window. Threads: any.
class coalescer : public std::enable_shared_from_this<coalescer> {
 public:
  struct window_durations {
    std::chrono::milliseconds resource{100};  ///< Window after a change of a resource.
    std::chrono::milliseconds quiet{250};     ///< How long a list must not change before a pending change is passed on.
    std::chrono::milliseconds list{5'000};    ///< Longest delay of a change of a list.
  };

  coalescer(std::shared_ptr<change_feed> feed, std::shared_ptr<executor::timers> timers, window_durations durations);

  /// Passes a change on now or later, or ignores it.
  void push(const model::change& change);
  /// Number of URIs that changed within the last window.
  [[nodiscard]] std::size_t size() const;

 private:
  using clock = executor::clock;
  struct pending_change {
    bool is_pending = false;
    model::change latest;
  };
  struct window_end {
    clock::time_point due_at;
    std::string uri;
  };
  /// The window of one kind of list.
  struct list_window {
    bool is_open = false;
    bool is_pending = false;
    clock::time_point end;
    clock::time_point last;  // time of the last change
  };

  void push_content(const model::change& change);
  void push_list(const model::change& change);
  /// Requires the lock. Starts the timer for the next window that ends.
  void arm_resources();
  /// Starts the timer for a kind of list.
  void arm_list(model::change::change_kind kind, clock::time_point due_at);
  void on_resources_due();
  void on_list_due(model::change::change_kind kind);
  [[nodiscard]] list_window& window_of(model::change::change_kind kind);

  const std::shared_ptr<change_feed> feed_;
  const std::shared_ptr<executor::timers> timers_;
  const window_durations durations_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, pending_change> recent_;
  std::deque<window_end> window_ends_;  // one for each element of `recent_`
  bool is_armed_ = false;
  list_window resources_;
  list_window tools_;
  list_window prompts_;
};

}  // namespace hondana::catalog
