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
[[nodiscard]] inline std::string_view strip_query(std::string_view uri) { return uri.substr(0, uri.find('?')); }
[[nodiscard]] inline std::string resource_of(std::string_view uri) { return std::string(strip_query(uri)); }
/// The query with its question mark; empty if there is none.
[[nodiscard]] inline std::string_view query_of(std::string_view uri) { return uri.substr(strip_query(uri).size()); }

/// Receives changes. Called from any thread while a change is published, or on its event loop. Must only take a note and
/// return.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;
  virtual void on_change(const model::change& change) = 0;
  /// Prefetches the memory that `on_change` needs, if many listeners are notified in a row. The listener itself is prefetched
  /// already.
  virtual void prefetch() const noexcept {}
  /// The event loop on which it wants to be notified; queried when it joins. Null: the publishing thread.
  [[nodiscard]] virtual std::shared_ptr<executor::step_executor> preferred_executor() const { return nullptr; }
  /// Whether it may be notified of changes of a URI that it watches. Queried when the watch begins, and by
  /// `change_feed::recheck_access`. Until it may, the source is not attached for it. Called without a lock, so it may take some
  /// time.
  [[nodiscard]] virtual bool may_receive(std::string_view uri) const {
    (void)uri;
    return true;
  }
  /// The access rules have changed.
  virtual void on_rules_changed(const std::shared_ptr<const gate::gate>& gate) { (void)gate; }
  /// A log message. Listeners that do not forward log messages ignore it.
  virtual void on_log_message(const model::log_message& message) { (void)message; }
};

/// The listeners of one server. Outlives all configurations of its sources. Threads: any.
class change_feed {
 public:
  /// `max_bytes`: limit of the memory of all watches together, in bytes of `cost_of`.
  explicit change_feed(std::size_t max_bytes = 64u << 20) noexcept : max_bytes_(max_bytes) {}
  change_feed(const change_feed&) = delete;
  change_feed& operator=(const change_feed&) = delete;

  /// Notifies `listener` of changed lists until it is destroyed or leaves. With `includes_resources` false, it forwards only
  /// lists of tools and prompts.
  void add_listener(const std::shared_ptr<listener>& listener, bool includes_resources = true);
  /// Sets a callback for when a URI, of a resource or a part, gets its first listener, and after it has lost its last one.
  /// Called without any lock. Set it before the first listener joins.
  void on_interest(std::function<void(const std::string& uri)> callback) { on_interest_ = std::move(callback); }

  /// The same for the list of resources: its first listener that forwards changes, and the last.
  void on_list_interest(std::function<void()> callback) { on_list_interest_ = std::move(callback); }

  /// Notifies `listener` of changed contents of `uri` (canonical), which need not exist. A URI with a query is a part of a
  /// resource, and changes when the whole does. Returns false, without effect, if all listeners together reach `max_bytes`, or
  /// this one a quarter of it.
  [[nodiscard]] bool watch(const std::shared_ptr<listener>& listener, const std::string& uri);
  void unwatch(const listener& listener, const std::string& uri);
  /// Calls `may_receive` of `listener` again for all its watches.
  void recheck_access(const listener& listener);
  /// Notifies every listener of new access rules.
  void publish_rules(const std::shared_ptr<const gate::gate>& gate) const;
  /// Removes `listener` and all its watches.
  void remove_listener(const listener& listener);

  /// Notifies all listeners concerned before it returns, except those on event loops: each loop gets one job, which notifies
  /// its listeners in slices. A change of content concerns those that watch the URI. If the URI has no query, it also concerns
  /// those that watch a part, unless the change is exact.
  void publish(const model::change& change);
  /// Whether any listener watches a resource (a URI without query), or a part of it.
  [[nodiscard]] bool is_watched(const std::string& resource) const;
  /// Whether any listener watches exactly this URI, with or without a query.
  [[nodiscard]] bool is_part_watched(const std::string& uri) const;
  /// Whether any listener forwards changes of the list of resources.
  [[nodiscard]] bool is_list_watched() const;
  /// All watched URIs, with queries.
  [[nodiscard]] std::vector<std::string> watched_uris() const;
  /// Sends a log message to every listener that has joined.
  void publish(const model::log_message& message);

  /// Bytes of one more watch of `uri`, here and in its listener, which stores two spellings of it.
  [[nodiscard]] static std::size_t cost_of(const std::string& uri) noexcept { return 512 + 8 * uri.size(); }

  /// Numbers of listeners and watched URIs, for tests and metrics.
  [[nodiscard]] std::size_t listeners() const;
  [[nodiscard]] std::size_t watched() const;

 private:
  struct membership {
    std::weak_ptr<listener> target;
    std::weak_ptr<executor::step_executor> executor;
    const executor::step_executor* executor_id = nullptr;  // for comparison only
    bool wants_lists = false;
    bool wants_resources = false;         // joined for the list of resources too
    std::uint64_t access_generation = 0;  // changes whenever `may_receive` must be called again
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
  /// Returns true if this was the first watch of that URI (`add_watch`), or the last one (`remove_watch`).
  bool add_watch(const listener* listener, const membership& member, const std::string& uri);
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

/// Coalesces changes. The first change is passed on at once; the following ones are passed on as one change. For a resource
/// that is at the end of the window that the previous change opened. For a list it is after a quiet period, but no later than
/// the end of its longer window. The last change is always passed on. Memory: one note for each watched resource that changes.
/// Threads: any.
class coalescer : public std::enable_shared_from_this<coalescer> {
 public:
  struct window_durations {
    std::chrono::milliseconds resource{100};
    std::chrono::milliseconds quiet{250};
    std::chrono::milliseconds list{5'000};
  };

  coalescer(std::shared_ptr<change_feed> feed, std::shared_ptr<executor::timers> timers, window_durations durations);

  void push(const model::change& change);
  /// Number of resources that changed within the last window.
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
    clock::time_point last;
  };

  void push_content(const model::change& change);
  void push_list(const model::change& change);
  /// Requires the lock.
  void arm_resources();
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
