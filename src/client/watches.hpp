/// Watches on a server, and the queue of changes to report.
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
#include "client/conversation.hpp"

namespace hondana::outbound {

/// Changes to report to one handler. A newer change of the same kind and URI replaces the older one and moves to the end.
/// Threads: guarded by its owner.
class waiting_changes {
 public:
  /// Limit for the bytes of queued changes. Beyond it, all that `what` names is reported as missed instead.
  static constexpr std::size_t most_bytes = 8u << 20;

  /// Adds a change and replaces an unreported one of the same kind and URI. `what`: the request of the watch.
  void add(change news, const watch_request& what);
  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// Removes and returns the oldest change. Precondition: not empty.
  [[nodiscard]] change take();
  void clear();

 private:
  using key = std::pair<change_kind, std::string>;
  struct waiting {
    change news;
    std::size_t bytes;
  };
  void put(change news, std::size_t bytes);
  void overflow(const watch_request& what);

  std::list<waiting> order_;
  std::map<key, std::list<waiting>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

class engine;

/// The state of a watch. `down`: it was up; the `keeper_` thread subscribes it again.
enum class standing : std::uint8_t { subscribing, up, down, gone };

/// One `watch` of an application. Guarded by the mutex of `watches`, except where noted.
struct watch_entry {
  watch_request what;  ///< Constant.
  /// Constant: the canonical form of each of `what.uris` that is not canonical itself.
  std::vector<std::string> canonical;
  watch_request honoured;
  change_handler tell;  ///< Constant.
  standing state = standing::subscribing;
  unsigned ups = 0;  ///< Number of successful subscriptions.
  clock::time_point up_since{};
  channel::call_id stream = 0;     ///< Id of its `subscriptions/listen`; 0: no stream is open.
  std::optional<failure> refusal;  ///< Why its stream ended before the server acknowledged it.
  std::uint64_t doubts = 0;        ///< Number of times that changes may have been missed.
  std::uint64_t settled = 0;       ///< Value of `doubts` up to which missed changes have been reported.
  unsigned failures = 0;           ///< Consecutive attempts that failed or did not last.
  bool is_explained = false;       ///< The log says why it is not up.
  bool is_refused = false;         ///< Its handler was notified that the server rejects the subscription.
  clock::time_point next_attempt{};
  waiting_changes waiting;  ///< Changes to report.
  bool is_being_told = false;
  std::mutex telling;  ///< Held while the handler runs.
  std::atomic<std::thread::id> teller{};
};

/// All watches of one client. Threads: any. Only `add`, `remove` and `close` block.
class watches {
 public:
  /// Intervals of the `keeper_` thread.
  struct pace {
    std::chrono::milliseconds between_pings{5'000};
    /// A subscription that ends sooner counts as failed, so that the next attempt waits longer.
    std::chrono::milliseconds lasting{30'000};
  };

  explicit watches(engine& of);
  ~watches();
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  /// Subscribes and waits for the server's answer. Errors: those of `client::watch`.
  [[nodiscard]] result<std::shared_ptr<watch_entry>> add(watch_request what, change_handler tell, const call_options& how);
  /// Ends a watch. Waits for its handler, unless called from it.
  void remove(const std::shared_ptr<watch_entry>& one);
  /// The part of the request that the server accepted.
  [[nodiscard]] watch_request honoured(const watch_entry& one) const;
  /// Stops all notifications, and cancels the work of the `keeper_` thread.
  void retire();
  /// Retires all watches. Waits for their handlers, unless called from one.
  void close();
  /// Must be called before the first watch.
  void set_pace(pace how);

  /// Records the content that a read returned. When changes may have been missed, a later read is compared with it.
  void seen(const std::string& uri, const bytes::digest& content);
  /// Handles a notification of the server.
  void told(const asking::news& what);
  /// Handles the end of a `subscriptions/listen` stream.
  void ended(channel::call_id id, std::optional<failure> why);
  /// Marks all watches without a stream of their own: changes may have been missed.
  void interrupted();
  /// Marks all watches of the session as down, to be subscribed again.
  void lost(const failure& why);

 private:
  using held = std::unique_lock<std::mutex>;
  using entry = std::shared_ptr<watch_entry>;
  /// A URI, and whether notifications for it contain its entry.
  using subscription = std::pair<std::string, bool>;

  [[nodiscard]] result<void> subscribe(const entry& one, const call_options& how);
  [[nodiscard]] result<void> listen(const entry& one, const call_options& how);
  [[nodiscard]] result<void> subscribe_each(const entry& one, const call_options& how);
  [[nodiscard]] result<void> subscribe_some(const entry& one, const std::vector<std::string>& uris, bool entries,
                                            std::uint64_t losses, const call_options& how);
  void run();
  [[nodiscard]] clock::time_point next_work() const;
  void look_after(held& lock);
  void unsubscribe(held& lock);
  void ping(held& lock);
  void take_up(entry one, held& lock);
  void make_up(entry one, held& lock);

  // The following functions require the mutex.
  [[nodiscard]] bool is_closed() const { return closing_.stop_requested(); }
  [[nodiscard]] entry with_stream(channel::call_id id) const;
  [[nodiscard]] bool needs_pings() const;
  void let_go(const std::string& uri);
  void begun(const entry& one, watch_request honoured);
  void up(const entry& one);
  void down(const entry& one, const std::string& why);
  void over(const entry& one, std::optional<failure> why);
  void hear(const change& what, channel::call_id stream);
  void queue(const entry& one, change what);
  void queue_missed(const entry& one, change_kind kind, const std::string& uri = {});
  void tell_soon(const entry& one);

  void drain(const entry& one);

  engine& engine_;
  std::stop_source closing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> all_;
  // Number of watches for each URI, as given and in canonical form where that differs. Watches in any state count.
  std::map<std::string, std::size_t, std::less<>> wanted_;
  std::map<std::string, bytes::digest, std::less<>> seen_;
  // Used only with sessions; cleared when the session ends.
  std::map<subscription, bool> subscribed_;  // true: the server has confirmed it
  std::set<subscription> unwanted_;          // to be unsubscribed, unless watched again by then
  // By canonical URI: subscriptions that are not ended because another spelling of the URI is still watched.
  std::map<std::string, std::set<subscription>, std::less<>> put_off_;
  std::set<std::string> ending_;  // being unsubscribed, as canonical URIs
  std::uint64_t losses_ = 0;      // number of lost sessions
  std::thread keeper_;
  pace pace_;
  clock::time_point next_ping_{};
  int pings_unanswered_ = 0;
  clock::time_point next_telling_{};
};

}  // namespace hondana::outbound
