/// Passes changes from sources to listeners, and coalesces many changes of one thing.
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

/// A URI without its query: what a part of a resource is a part of.
[[nodiscard]] inline std::string_view resource_in(std::string_view uri) { return uri.substr(0, uri.find('?')); }
[[nodiscard]] inline std::string resource_of(std::string_view uri) { return std::string(resource_in(uri)); }
/// The rest of it: empty, or the query with its mark.
[[nodiscard]] inline std::string_view part_in(std::string_view uri) { return uri.substr(resource_in(uri).size()); }

/// Hears of changes. Called from any thread while the change is passed on, or at its place, so it only takes a note and
/// returns.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;
  virtual void heard(const model::change& what) = 0;
  /// Begins to fetch what `heard` will need, when many are told one after the other. Its own memory has been asked for before.
  virtual void come_near() const noexcept {}
  /// Where it wants to hear of changes, asked when it begins to listen. Empty: wherever they come from.
  [[nodiscard]] virtual std::shared_ptr<executor::turns> place() const { return nullptr; }
  /// Whether it may be told of changes of a URI that it watches; asked when it begins to, and by `feed::reconsider`. Until it
  /// may, nobody looks after the resource for it. Asked without a lock, so that it may take its time.
  [[nodiscard]] virtual bool may_hear(std::string_view uri) const {
    (void)uri;
    return true;
  }
  /// Callers see by these rules from now on.
  virtual void rules_changed(const std::shared_ptr<const gate::gate>& now) { (void)now; }
  /// A log message. Whoever does not pass them on ignores them.
  virtual void told(const model::log_message& what) { (void)what; }
};

/// The listeners of one server. Outlives every arrangement of its sources. Threads: any.
class feed {
 public:
  /// `byte_cap`: what all watches together may take; see `cost_of`.
  explicit feed(std::size_t byte_cap = 64u << 20) noexcept : byte_cap_(byte_cap) {}
  feed(const feed&) = delete;
  feed& operator=(const feed&) = delete;

  /// Announces changed lists to `who` until it is gone or leaves. Unless `of_resources`, it passes on only those of others.
  void join(const std::shared_ptr<listener>& who, bool of_resources = true);
  /// Sets what is called, without any lock, when the first listener begins to watch a URI, be it a resource or a part of one,
  /// and after the last one has stopped. Before the first listener comes.
  void on_interest(std::function<void(const std::string& uri)> changed) { on_interest_ = std::move(changed); }

  /// The same for the list of resources: the first listener who passes its changes on, and the last.
  void on_list_interest(std::function<void()> changed) { on_list_interest_ = std::move(changed); }

  /// Announces changed contents of `uri` (canonical) to `who`, also when nothing is there yet. With a query, that is a part of
  /// a resource, which changes when the whole does. False, and nothing changed, when
  /// all listeners together watch as much as there is room for, or this one a quarter of that.
  [[nodiscard]] bool watch(const std::shared_ptr<listener>& who, const std::string& uri);
  void unwatch(const listener& who, const std::string& uri);
  /// Asks `who` again what it may hear of.
  void reconsider(const listener& who);
  /// Tells every listener.
  void rules_changed(const std::shared_ptr<const gate::gate>& now) const;
  /// Forgets `who` with all it watches.
  void leave(const listener& who);

  /// Tells everybody concerned, before it returns, but for those who have a place: each place is told once, and tells its
  /// listeners in slices. Of content those are who watch that URI, and, when it has no query, those who
  /// watch a part of it, unless the change is exact.
  void publish(const model::change& what);
  /// Whether anybody watches a resource (a URI without query) or a part of it.
  [[nodiscard]] bool is_watched(const std::string& resource) const;
  /// Whether anybody watches just that, with its query or without.
  [[nodiscard]] bool is_part_watched(const std::string& uri) const;
  /// Whether anybody passes changes of the list of resources on.
  [[nodiscard]] bool is_list_watched() const;
  /// All that is watched, with queries.
  [[nodiscard]] std::vector<std::string> watched_uris() const;
  /// Tells everybody who has joined.
  void publish(const model::log_message& what);

  /// Bytes that one more watch of `uri` takes, here and in its listener, which keeps it under two spellings.
  [[nodiscard]] static std::size_t cost_of(const std::string& uri) noexcept { return 512 + 8 * uri.size(); }

  /// Of listeners and watched URIs, for tests and figures.
  [[nodiscard]] std::size_t listeners() const;
  [[nodiscard]] std::size_t watched() const;

 private:
  struct membership {
    std::weak_ptr<listener> who;
    std::weak_ptr<executor::turns> place;
    const executor::turns* place_name = nullptr;  // for comparing only
    bool hears_lists = false;
    bool hears_resources = false;  // of the lists, that of resources
    std::uint64_t asked = 0;       // Unlike that of any other time when it was to be asked what it may hear of.
    // And whether it may hear of it. Mostly one, for which a table by hash is large.
    std::map<std::string, bool> uris;
    std::size_t bytes = 0;
  };
  /// Who watches a resource, and how many spellings of parts each.
  struct watcher {
    std::size_t spellings = 0;
    const membership* of = nullptr;  // whose address is the same until it is erased
  };
  struct watchers {
    std::unordered_map<const listener*, watcher> who;
    std::map<std::string, std::size_t, std::less<>> parts;  // how many watch each: empty, or a query with its mark
  };
  class audience;

  membership& member(const std::shared_ptr<listener>& who);
  /// True when it is the first watch of that URI, or was the last.
  bool hear(const listener* who, const membership& one, const std::string& uri);
  bool unhear(const listener* who, const std::string& uri);
  /// Asks whether `who` may hear of a URI that it watches, until that is how it stands.
  void settle(const listener& who, const std::string& uri);
  void tell(const std::string& uri) const;

  const std::size_t byte_cap_;
  // Listeners that places are still to tell; shared with those places.
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

/// Passes the first change of anything on at once. What follows is passed on as one change: of a resource at the end of the
/// window that the one before it opened; of a list when it has been quiet, at the latest at the end of its longer window. The
/// last change is always passed on. Memory: one note a resource that somebody watches and that changes. Threads: any.
class coalescer : public std::enable_shared_from_this<coalescer> {
 public:
  struct windows {
    std::chrono::milliseconds resource{100};
    std::chrono::milliseconds quiet{250};
    std::chrono::milliseconds list{5'000};
  };

  coalescer(std::shared_ptr<feed> to, std::shared_ptr<executor::timers> timers, windows with);

  void take(const model::change& what);
  /// Resources that changed within the last window.
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
  /// Of one kind of list.
  struct list_window {
    bool is_open = false;
    bool is_pending = false;
    clock::time_point end;
    clock::time_point last;
  };

  void take_content(const model::change& what);
  void take_list(const model::change& what);
  /// Under the lock.
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
  std::deque<due> by_time_;  // one for each of `recent_`
  bool is_armed_ = false;
  list_window resources_;
  list_window tools_;
  list_window prompts_;
};

}  // namespace hondana::catalog
