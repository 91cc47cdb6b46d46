/// Watches on a server, and the changes that wait to be reported.
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

/// Changes in the order in which they became the latest of their kind and URI. Threads: guarded by its owner.
class waiting_changes {
 public:
  /// Bytes of changes that wait; beyond them everything that `what` names is told as missed instead.
  static constexpr std::size_t most_bytes = 8u << 20;

  /// The same news again, not yet told, is one piece of news: the newest. `what`: what is watched.
  void add(change news, const watch_request& what);
  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// The oldest; there must be one.
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

/// How a watch stands. `down`: it was up, and the keeper takes it up again.
enum class standing : std::uint8_t { subscribing, up, down, gone };

/// One `watch` of an application. Guarded by the mutex of `watches`, except where it says otherwise.
struct watch_entry {
  watch_request what;  ///< Constant.
  /// Constant: how those of `what.uris` are written canonically that are written otherwise.
  std::vector<std::string> canonical;
  watch_request honoured;
  change_handler tell;  ///< Constant.
  standing state = standing::subscribing;
  unsigned ups = 0;  ///< How often it came up.
  clock::time_point up_since{};
  channel::call_id stream = 0;     ///< Of its `subscriptions/listen`; 0: none is open.
  std::optional<failure> refusal;  ///< Why its stream ended before it was acknowledged.
  std::uint64_t doubts = 0;        ///< How often changes may have been missed,
  std::uint64_t settled = 0;       ///< and how many of these times have been made up for.
  unsigned failures = 0;           ///< Attempts in a row that failed or did not last.
  bool is_explained = false;       ///< The log has why it is not up.
  bool is_refused = false;         ///< Its handler has been told that the server does not want it.
  clock::time_point next_attempt{};
  waiting_changes waiting;  ///< To be told.
  bool is_being_told = false;
  std::mutex telling;  ///< Held while the handler runs.
  std::atomic<std::thread::id> teller{};
};

/// Threads: any. Nothing here blocks but `add`, `remove` and `close`.
class watches {
 public:
  /// How patient the keeper is.
  struct pace {
    std::chrono::milliseconds between_pings{5'000};
    /// A subscription that ends sooner counts as one that failed, so that the next attempt waits longer.
    std::chrono::milliseconds lasting{30'000};
  };

  explicit watches(engine& of);
  ~watches();
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  [[nodiscard]] result<std::shared_ptr<watch_entry>> add(watch_request what, change_handler tell, const call_options& how);
  /// Waits for the handler unless it is called in it.
  void remove(const std::shared_ptr<watch_entry>& one);
  [[nodiscard]] watch_request honoured(const watch_entry& one) const;
  /// Nobody is told of anything any more, and what the keeper is doing ends at once.
  void retire();
  /// As `remove`, of all.
  void close();
  /// Before the first watch.
  void set_pace(pace how);

  /// A read gave this; it is what a later read is compared with when changes may have been missed.
  void seen(const std::string& uri, const bytes::digest& content);
  void told(const asking::news& what);
  void ended(channel::call_id id, std::optional<failure> why);
  /// Changes may have been missed by all that have no stream of their own.
  void interrupted();
  void lost(const failure& why);

 private:
  using held = std::unique_lock<std::mutex>;
  using entry = std::shared_ptr<watch_entry>;
  /// A URI, and whether its entry is told with it.
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

  // All of these with the mutex held.
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
  // By how many watches, whatever their standing: URIs as they are spelled, and canonically where that is otherwise.
  std::map<std::string, std::size_t, std::less<>> wanted_;
  std::map<std::string, bytes::digest, std::less<>> seen_;
  // Only with sessions, and all gone with them.
  std::map<subscription, bool> subscribed_;  // sent, and whether it has been answered
  std::set<subscription> unwanted_;          // to be taken back, unless somebody wants them by then
  // Not taken back because another spelling is wanted, by what is canonical for all of them.
  std::map<std::string, std::set<subscription>, std::less<>> put_off_;
  std::set<std::string> ending_;  // being taken back right now, spelled canonically
  std::uint64_t losses_ = 0;      // of sessions
  std::thread keeper_;
  pace pace_;
  clock::time_point next_ping_{};
  int pings_unanswered_ = 0;
  clock::time_point next_telling_{};
};

}  // namespace hondana::outbound
