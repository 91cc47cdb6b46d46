/// The watches of a client, and their queues of events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/client_types.hpp>

#include "base/bytes/digest.hpp"
#include "client/rpc_peer.hpp"

namespace hondana::outbound {

/// Events that one handler has not received yet. Threads: one at a time.
class event_queue {
 public:
  /// Limit of the bytes of events. If it is exceeded, the queued changes are replaced by one `watch_event::was_missed` event
  /// for each item of the request.
  static constexpr std::size_t max_bytes = 8u << 20;

  /// Adds an event at the end, and removes an older one of the same kind and URI. `request`: that of the watch.
  void add(watch_event event, const watch_request& request);
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  /// Removes and returns the oldest event. The queue must not be empty.
  [[nodiscard]] watch_event pop();
  void clear();

 private:
  using key = std::pair<watch_event_kind, std::string>;
  struct queued_event {
    watch_event event;
    std::size_t bytes;
  };
  void insert(watch_event event, std::size_t bytes);
  void overflow(const watch_request& request);

  std::list<queued_event> events_;
  std::map<key, std::list<queued_event>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

class engine;

/// The state of a watch. `subscribing`: a subscription waits for the server's answer. `inactive`: the subscription was lost;
/// the `worker_` thread subscribes again. `closed`: ended.
enum class watch_status : std::uint8_t { subscribing, active, inactive, closed };

/// One `client::watch`. Guarded by the mutex of `watch_registry`, except where noted.
struct watch_entry {
  watch_request request;  ///< Constant.
  /// Constant: the canonical form of each of `request.uris` that is not canonical itself.
  std::vector<std::string> canonical_uris;
  watch_request accepted;  ///< The part of `request` that the server accepted.
  watch_handler handler;   ///< Constant.
  watch_status status = watch_status::subscribing;
  unsigned activations = 0;  ///< Number of successful subscriptions.
  clock::time_point active_since{};
  /// Id of the request `subscriptions/listen`, whose stream this watch has for itself. 0: no stream is open, or the server has
  /// sessions, in which all watches share one.
  channel::call_id stream_id = 0;
  std::optional<failure> rejection;  ///< Why the stream ended before the server acknowledged it.
  std::uint64_t gaps = 0;            ///< Number of times that changes may have been missed.
  std::uint64_t reported_gaps = 0;   ///< Value of `gaps` up to which missed changes have been reported.
  unsigned failures = 0;             ///< Consecutive subscriptions that failed or ended soon.
  bool is_logged = false;            ///< The log says why it is not active.
  bool is_rejected = false;          ///< The handler was notified that the server rejects the subscription.
  clock::time_point next_attempt{};  ///< With `inactive`: when to subscribe again.
  event_queue events;
  bool is_scheduled = false;                      ///< A job to call the handler is queued or running.
  std::mutex handler_mutex;                       ///< Held while the handler runs.
  std::atomic<std::thread::id> handler_thread{};  ///< The thread on which the handler runs, if it runs.
};

/// All watches of one client. Threads: any. Only `add`, `remove` and `close` block.
class watch_registry {
 public:
  /// Times that tests shorten.
  struct timing {
    std::chrono::milliseconds ping_interval{5'000};  ///< Between two pings, which notice that a session has ended.
    /// A subscription that ends sooner counts as failed, so that the next attempt waits longer.
    std::chrono::milliseconds min_lifetime{30'000};
  };

  explicit watch_registry(engine& engine);
  ~watch_registry();
  watch_registry(const watch_registry&) = delete;
  watch_registry& operator=(const watch_registry&) = delete;

  /// Adds a watch: subscribes, and waits for the server's answer. Errors: those of `client::watch`.
  [[nodiscard]] result<std::shared_ptr<watch_entry>> add(watch_request request, watch_handler handler,
                                                         const call_options& options);
  /// Ends a watch. Waits for its handler, unless called by it.
  void remove(const std::shared_ptr<watch_entry>& watch);
  /// Returns the part of the request that the server accepted.
  [[nodiscard]] watch_request accepted(const watch_entry& watch) const;
  /// Ends all watches without waiting: no handler is called any more, and the `worker_` thread stops.
  void stop_notifications();
  /// Ends all watches. Waits for their handlers, except one that calls it.
  void close();
  /// Must be called before the first `add`.
  void set_timing(timing intervals);

  /// Compares what a read returned with the previous read of a watched URI. If it differs, watches that may have missed the
  /// change get an event.
  void record_content(const std::string& uri, const bytes::digest& digest);
  /// Handles a notification of the server.
  void on_notification(const asking::server_notification& notification);
  /// Handles the end of a `subscriptions/listen` stream. `reason`: nullopt if the server ended it normally.
  void on_stream_end(channel::call_id id, std::optional<failure> reason);
  /// Call it when notifications of a session may have been missed. Its watches then report what may have changed.
  void on_interruption();
  /// Call it when the session was lost. Its watches become inactive, and are subscribed again.
  void on_disconnect(const failure& reason);

 private:
  using lock_type = std::unique_lock<std::mutex>;
  using watch_ptr = std::shared_ptr<watch_entry>;
  /// A URI, and whether notifications contain its entry.
  using subscription = std::pair<std::string, bool>;

  /// Subscribes a watch: by `listen` without sessions, by `subscribe_each` with sessions.
  [[nodiscard]] result<void> subscribe(const watch_ptr& watch, const call_options& options);
  [[nodiscard]] result<void> listen(const watch_ptr& watch, const call_options& options);
  [[nodiscard]] result<void> subscribe_each(const watch_ptr& watch, const call_options& options);
  /// Subscribes those of `uris` that are not subscribed. `entries`: as in `subscription`. `lost_sessions`: `lost_sessions_` at
  /// the start; fails if it has changed.
  [[nodiscard]] result<void> subscribe_uris(const watch_ptr& watch, const std::vector<std::string>& uris, bool entries,
                                            std::uint64_t lost_sessions, const call_options& options);
  void run();
  [[nodiscard]] clock::time_point next_wakeup() const;
  void do_work(lock_type& lock);
  void unsubscribe(lock_type& lock);
  void ping(lock_type& lock);
  void resubscribe(watch_ptr watch, lock_type& lock);
  void report_missed(watch_ptr watch, lock_type& lock);

  // The following functions require the mutex.
  [[nodiscard]] bool is_closed() const { return closing_.stop_requested(); }
  [[nodiscard]] watch_ptr find_by_stream(channel::call_id id) const;
  [[nodiscard]] bool needs_pings() const;
  void release_uri(const std::string& uri);
  void on_acknowledged(const watch_ptr& watch, watch_request accepted);
  void activate(const watch_ptr& watch);
  void deactivate(const watch_ptr& watch, const std::string& reason);
  void end_stream(const watch_ptr& watch, std::optional<failure> reason);
  void dispatch(const watch_event& event, channel::call_id stream);
  void enqueue(const watch_ptr& watch, watch_event event);
  void enqueue_missed(const watch_ptr& watch, watch_event_kind kind, const std::string& uri = {});
  void schedule(const watch_ptr& watch);

  void deliver(const watch_ptr& watch);

  engine& engine_;
  std::stop_source closing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<watch_ptr> watches_;
  // Number of watches for each URI, as given and in canonical form where that differs. Watches in any state count.
  std::map<std::string, std::size_t, std::less<>> uri_counts_;
  std::map<std::string, bytes::digest, std::less<>> digests_;
  // Used only with sessions; cleared when the session ends.
  std::map<subscription, bool> subscriptions_;  // true: the server has confirmed it
  std::set<subscription> to_unsubscribe_;       // to be unsubscribed, unless watched again by then
  // By canonical URI: subscriptions that are not ended because another spelling of the URI is still watched.
  std::map<std::string, std::set<subscription>, std::less<>> deferred_;
  std::set<std::string> unsubscribing_;  // being unsubscribed, as canonical URIs
  std::uint64_t lost_sessions_ = 0;      // how many sessions were lost
  std::thread worker_;
  timing timing_;
  clock::time_point next_ping_{};
  int pings_unanswered_ = 0;
  clock::time_point next_delivery_{};
};

}  // namespace hondana::outbound
