/// The connection to the mounted server, with its state and the pauses between requests for lists.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/clock.hpp>
#include <hondana/mount.hpp>
#include <hondana/provider.hpp>

#include "sources/mcp/mount_chain.hpp"
#include "sources/mcp/subscriptions.hpp"
#include "sources/mcp/upstream_lists.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace hondana::mcp {

/// Schedules requests for lists after change notifications: the first at once, then for at most a tenth of the time. Servers
/// that announce changes although nothing changed, for example after each request, get longer and longer pauses. Threads: one
/// at a time.
class list_pacer {
 public:
  using clock = monotonic_clock;

  /// Records a request for lists that took `duration`. `has_changes`: false if the server had announced a change, but nothing
  /// changed.
  void record_request(clock::time_point now, clock::duration duration, bool has_changes) {
    delay_ = has_changes ? clock::duration::zero() : std::clamp<clock::duration>(2 * delay_, min_delay, max_delay);
    next_ = now + std::max(delay_, std::min<clock::duration>(idle_factor * duration, max_delay));
  }
  [[nodiscard]] clock::time_point next() const noexcept { return next_; }

 private:
  static constexpr std::chrono::milliseconds min_delay{50};
  static constexpr std::chrono::seconds max_delay{10};
  static constexpr int idle_factor = 9;

  clock::duration delay_{};
  clock::time_point next_{};
};

/// One connection, and one thread that connects, requests lists and subscribes. The destructor ends both. Threads: any. Only
/// `ensure_connected`, `lists` and the destructor block.
class upstream {
 public:
  /// `options` must have been checked.
  explicit upstream(mount_options options);
  ~upstream();
  upstream(const upstream&) = delete;
  upstream& operator=(const upstream&) = delete;

  [[nodiscard]] const mount_options& options() const noexcept { return options_; }
  [[nodiscard]] const uri_mapping& mapping() const noexcept { return mapping_; }
  [[nodiscard]] const uri_filter& filter() const noexcept { return filter_; }

  /// Why a request to the other server would go in a cycle; empty if it would not.
  [[nodiscard]] std::string find_cycle(const request_context& context);
  /// Returns the client after it has connected and requested lists. Errors: why it cannot, at once during a back-off pause;
  /// cancelled, timed_out.
  [[nodiscard]] result<std::shared_ptr<client>> ensure_connected(const request_context& context);
  /// Returns the server's lists. Waits for at most `list_timeout` if they are unknown or outdated; null if there are none.
  [[nodiscard]] std::shared_ptr<const list_snapshot> lists(const request_context& context);
  /// The lists that are known now; may be null.
  [[nodiscard]] std::shared_ptr<const list_snapshot> current_lists() const;
  /// The failure that currently prevents access to the other server.
  [[nodiscard]] std::optional<failure> last_error() const;

  /// Reports the failure of a client call. If it means that the server is unreachable, a pause follows, which grows. After a
  /// timeout, the server is pinged.
  void report_failure(const failure& error);
  void report_success();
  /// Reports that a part of an answer, or progress, has arrived.
  void report_activity();

  struct call_finisher {
    void operator()(upstream* owner) const noexcept;
  };
  /// A call in progress. It ends when this is destroyed.
  using pending_call = std::unique_ptr<upstream, call_finisher>;
  [[nodiscard]] pending_call begin_call();

  void set_listener(std::shared_ptr<change_listener> listener);
  void watch(const std::string& uri);
  void unwatch(const std::string& uri);
  /// While a client listens for list changes, lists are requested again when they change. If the server does not notify
  /// changes, they are requested when they are outdated.
  void watch_list();
  void unwatch_list();
  /// If the server has sent no answer for ten seconds, also schedules a ping. The next call reports its result.
  [[nodiscard]] hondana::provider_health health() const;

 private:
  using clock = monotonic_clock;
  enum class job { none, connect, probe, collect, subscribe };

  void run(const std::stop_token& stop);
  /// Calls `run` again after an exception and a pause.
  void run_with_restarts(const std::stop_token& stop);
  [[nodiscard]] job next_job(clock::time_point now) const;
  void connect(const std::stop_token& stop);
  /// Sends a ping, and ends the connection without an answer. While the server may still be busy with a call that is younger
  /// than `call_timeout`, waits longer for the answer.
  void probe(const std::stop_token& stop);
  void collect_lists(const std::stop_token& stop);
  void subscribe(const std::stop_token& stop);
  [[nodiscard]] client_options make_client_options();
  [[nodiscard]] client_target make_target() const;
  [[nodiscard]] call_options make_call_options(const std::stop_token& stop) const;
  void on_event(const watch_event& event);
  void notify_lists();
  void notify_content(const std::string& uri, std::string_view title);
  /// The subscribed URIs above one of our URIs, and its parts.
  [[nodiscard]] std::vector<std::string> related_watches(const std::string& uri) const;
  void log(std::string_view line) const;

  // Call with the mutex held.
  void activate();
  void record_activity();
  /// Restarts the wait for an answer.
  void restart_silence_timer();
  void signal_change() const {
    ++events_;
    changed_.notify_all();
  }
  [[nodiscard]] bool is_backing_off(clock::time_point now) const { return failures_ != 0 && now < retry_at_; }
  [[nodiscard]] bool is_fresh(clock::time_point now) const;
  /// When lists are requested without a caller.
  [[nodiscard]] clock::time_point next_poll() const;
  /// Releases the lock.
  void record_failure(std::unique_lock<std::mutex>& lock, failure error);

  const mount_options options_;
  const uri_mapping mapping_;
  const uri_filter filter_;
  mount_chain chain_;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::uint64_t events_ = 0;
  bool is_active_ = false;
  bool is_stale_ = true;
  bool is_requested_ = false;  // by a waiting caller
  bool has_change_event_ = false;
  bool owes_notification_ = false;  // a caller was answered without the lists
  bool watches_list_ = false;
  bool has_list_subscription_ = false;
  bool is_disconnected_ = false;  // as reported by the client
  mutable bool needs_ping_ = false;
  clock::time_point last_activity_{};  // last answer
  bool probes_in_backoff_ = false;     // a successful ping ends the pause
  std::size_t pending_calls_ = 0;
  bool has_abandoned_call_ = false;  // a call was given up since the last answer
  // Since when calls wait without any data from the server, including calls that were given up.
  std::optional<clock::time_point> silence_start_;
  // After a failed request for lists, no further one is made until then.
  clock::time_point idle_until_{};
  bool notifies_parts_ = false;  // it has notified changes of URIs with a query
  bool has_cycle_ = false;
  std::uint64_t connect_attempts_ = 0;  // finished
  std::uint64_t list_requests_ = 0;     // finished
  unsigned failures_ = 0;               // consecutive
  // The number of times the pause was doubled: failures with less than half a minute between them.
  unsigned backoff_steps_ = 0;
  clock::time_point failed_at_{};
  clock::time_point retry_at_{};
  std::optional<failure> last_error_;
  std::string logged_error_;
  std::uint64_t chain_generation_ = 0;
  desired_subscriptions desired_;
  std::uint64_t applied_generation_ = 0;
  std::shared_ptr<const list_snapshot> lists_;
  clock::time_point lists_time_{};
  list_pacer pacer_;
  std::shared_ptr<change_listener> listener_;
  std::shared_ptr<client> client_;

  subscription_manager subscriptions_;  // used by the thread only
  std::jthread thread_;                 // started on first use
};

}  // namespace hondana::mcp
