/// Who watches what on a server, kept up across lost connections.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <hondana/client.hpp>

#include "bytes/digest.hpp"
#include "client/conversation.hpp"

namespace hondana::outbound {

class engine;

/// One `watch` of an application. Guarded by the mutex of `watches`, except where it says otherwise.
struct watch_entry {
  watch_request what;
  watch_request honoured;
  change_handler tell;
  channel::call_id stream = 0;  ///< Of its `subscriptions/listen`; 0: none is open.
  bool may_have_missed = false;
  bool is_up = false;  ///< Subscribed, as far as we know.
  bool was_up = false;
  bool is_acknowledged = false;
  std::optional<failure> refusal;  ///< Why its stream ended before it was acknowledged.
  unsigned failures = 0;           ///< Attempts in a row that failed.
  clock::time_point next_attempt{};
  std::deque<change> queue;  ///< To be told.
  bool is_being_told = false;
  std::atomic<bool> is_gone = false;
  std::mutex telling;  ///< Held while the handler runs.
  std::atomic<std::thread::id> teller{};
};

/// Threads: any. Nothing here blocks but `add`, `remove` and `close`.
class watches {
 public:
  explicit watches(engine& of);
  ~watches();
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  [[nodiscard]] result<std::shared_ptr<watch_entry>> add(watch_request what, change_handler tell, const call_options& how);
  void remove(const std::shared_ptr<watch_entry>& one);
  [[nodiscard]] watch_request honoured(const watch_entry& one) const;
  /// Nobody is told of anything any more.
  void retire();
  /// Waits for what runs.
  void close();

  /// A read gave this; it is what a later read is compared with when changes may have been missed.
  void seen(const std::string& uri, const bytes::digest& content);
  void told(const asking::news& what);
  void ended(channel::call_id id, std::optional<failure> why);
  /// Changes may have been missed by all that have no stream of their own.
  void interrupted();
  void lost(const failure& why);

 private:
  [[nodiscard]] result<void> subscribe(const std::shared_ptr<watch_entry>& one, const call_options& how);
  [[nodiscard]] result<void> listen(const std::shared_ptr<watch_entry>& one, const call_options& how);
  [[nodiscard]] result<void> subscribe_each(const std::shared_ptr<watch_entry>& one, const server_description& with,
                                            const call_options& how);
  /// Takes back what nobody wants any more; blocks for a while.
  void unsubscribe(const std::vector<std::string>& uris, bool entries);
  void run();
  void look_after(std::unique_lock<std::mutex>& lock);
  void make_up(const std::shared_ptr<watch_entry>& one);
  void hear(const change& what, channel::call_id stream);                      // with the mutex held
  void queue(const std::shared_ptr<watch_entry>& one, change what);            // with the mutex held
  void down(const std::shared_ptr<watch_entry>& one, const std::string& why);  // with the mutex held
  void drain(const std::shared_ptr<watch_entry>& one);

  engine& engine_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<watch_entry>> all_;
  std::map<std::string, std::size_t, std::less<>> subscribed_;  // with sessions: how many want it
  std::map<std::string, bytes::digest, std::less<>> seen_;
  std::deque<std::pair<std::vector<std::string>, bool>> unwanted_;  // URIs, and whether their entries were told
  std::thread keeper_;
  bool is_closed_ = false;
  clock::time_point next_ping_{};
};

}  // namespace hondana::outbound
