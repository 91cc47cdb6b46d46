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

#include <hondana/capabilities.hpp>
#include <hondana/client.hpp>
#include <hondana/clock.hpp>
#include <hondana/mount.hpp>
#include <hondana/provider.hpp>

#include "sources/mcp/mount_chain.hpp"
#include "sources/mcp/subscriptions.hpp"
#include "sources/mcp/upstream_lists.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace hondana::mcp {

/// Decides when lists may be requested again after change notifications. Requests take at most a tenth of the time, except very
/// slow ones. Servers that announce changes although nothing changed, for example after each request, get pauses of up to ten
/// seconds. Threads: one at a time.
class list_pacer {
 public:
  using clock = monotonic_clock;

  /// Records a request for lists that ended at `now` and took `duration`. `has_changes`: false only if the server had announced
  /// a change, but nothing changed.
  void record_request(clock::time_point now, clock::duration duration, bool has_changes) {
    delay_ = has_changes ? clock::duration::zero() : std::clamp<clock::duration>(2 * delay_, min_delay, max_delay);
    next_ = now + std::max(delay_, std::min<clock::duration>(idle_factor * duration, max_delay));
  }
  /// Returns the earliest time of the next request.
  [[nodiscard]] clock::time_point next() const noexcept { return next_; }

 private:
  static constexpr std::chrono::milliseconds min_delay{50};
  static constexpr std::chrono::seconds max_delay{10};
  static constexpr int idle_factor = 9;

  clock::duration delay_{};
  clock::time_point next_{};
};

/// The connection to one mounted server, and a thread that connects, requests lists and subscribes. The thread starts at the
/// first use. The destructor ends both. Threads: any. Only `ensure_connected`, `lists` and the destructor block.
class upstream {
 public:
  /// `options` must have passed `validate_options`.
  explicit upstream(mount_options options);
  ~upstream();
  upstream(const upstream&) = delete;
  upstream& operator=(const upstream&) = delete;

  [[nodiscard]] const mount_options& options() const noexcept { return options_; }
  [[nodiscard]] const uri_mapping& mapping() const noexcept { return mapping_; }
  [[nodiscard]] const uri_filter& filter() const noexcept { return filter_; }

  /// Returns why the request must not be sent to the mounted server: it would go in a cycle. Empty if it would not. See
  /// `mount_chain::find_cycle`.
  [[nodiscard]] std::string find_cycle(const request_context& context);
  /// Returns the client, after connecting it. Then waits up to `list_timeout` for the first lists, since only they show how the
  /// server spells its URIs. Errors: why it cannot connect, at once during a pause after failures; cancelled; timed_out.
  [[nodiscard]] result<std::shared_ptr<client>> ensure_connected(const request_context& context);
  /// Returns the server's lists; null if there are none. If they are unknown or outdated, first waits up to `list_timeout` for
  /// new ones, except during a pause after failures.
  [[nodiscard]] std::shared_ptr<const list_snapshot> lists(const request_context& context);
  /// Returns the last received lists; null if there are none.
  [[nodiscard]] std::shared_ptr<const list_snapshot> current_lists() const;
  /// Returns the failure after which the server has not yet answered; nullopt if there is none.
  [[nodiscard]] std::optional<failure> last_error() const;

  /// Must be called after each failed call of the client. If the server is unreachable, a pause follows in which
  /// `ensure_connected` fails; it grows with each failure. After a timeout or cancellation, the thread pings the server.
  void report_failure(const failure& error);
  /// Must be called after each successful call of the client. Ends a pause.
  void report_success();
  /// Must be called when a part of an answer, or progress, has arrived.
  void report_activity();

  struct call_finisher {
    void operator()(upstream* owner) const noexcept;
  };
  /// A call that waits for its answer, until this is destroyed. `health` reports calls that wait for long.
  using pending_call = std::unique_ptr<upstream, call_finisher>;
  [[nodiscard]] pending_call begin_call();

  /// Sets the receiver of changes. Null: ends all subscriptions.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Subscribes to a local URI, unless it is not served. Also connects.
  void watch(const std::string& uri);
  void unwatch(const std::string& uri);
  /// Connects, and lets the thread request lists that are outdated if the server does not notify changes of them. Lists with
  /// notified changes are always requested again.
  void watch_list();
  void unwatch_list();
  /// If the server has sent no answer for ten seconds, also schedules a ping. A later call of `health` reports its result.
  [[nodiscard]] hondana::provider_health health() const;

 private:
  using clock = monotonic_clock;
  /// The work that the thread does next, named after its function.
  enum class job { none, connect, probe, collect, subscribe };

  /// Does jobs until it is stopped.
  void run(const std::stop_token& stop);
  /// Calls `run`, and calls it again after an exception and a pause.
  void run_with_restarts(const std::stop_token& stop);
  [[nodiscard]] job next_job(clock::time_point now) const;
  void connect(const std::stop_token& stop);
  /// Sends a ping. Ends the connection if no answer arrives in time, neither to the ping nor to another call. Waits longer
  /// while the server may be busy with a call that is younger than `call_timeout`.
  void probe(const std::stop_token& stop);
  void collect_lists(const std::stop_token& stop);
  void subscribe(const std::stop_token& stop);
  [[nodiscard]] client_options make_client_options();
  [[nodiscard]] client_target make_target() const;
  [[nodiscard]] call_options make_call_options(const std::stop_token& stop) const;
  void on_event(const watch_event& event);
  void notify_lists();
  void notify_content(const std::string& uri, std::string_view title);
  /// Returns the subscribed local URIs that a change of `uri` may concern: folders above it, and parts of it (with a query).
  [[nodiscard]] std::vector<std::string> related_watches(const std::string& uri) const;
  void log(std::string_view line) const;

  // The caller of the following functions must hold `mutex_`.
  /// Starts the thread at the first use, and wakes it.
  void activate();
  /// Records that the server has sent something.
  void record_activity();
  /// Sets `silence_start_` to now if calls wait, otherwise to nullopt.
  void restart_silence_timer();
  /// Wakes the thread and waiting callers.
  void signal_change() const {
    ++events_;
    changed_.notify_all();
  }
  /// Whether the pause after a failure lasts.
  [[nodiscard]] bool is_backing_off(clock::time_point now) const { return failures_ != 0 && now < retry_at_; }
  /// Whether `lists_` is not outdated.
  [[nodiscard]] bool is_fresh(clock::time_point now) const;
  /// Returns when lists are requested although no caller waits for them.
  [[nodiscard]] clock::time_point next_poll() const;
  /// Begins a pause, and logs the error if it is a new one. `error`: as the client reported it. Unlocks `lock`, which must hold
  /// `mutex_`.
  void record_failure(std::unique_lock<std::mutex>& lock, const failure& error);

  const mount_options options_;
  const uri_mapping mapping_;
  const uri_filter filter_;
  mount_chain chain_;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::uint64_t events_ = 0;
  bool is_active_ = false;          // the mount was used
  bool is_stale_ = true;            // the lists must be requested
  bool is_requested_ = false;       // a caller waits for the lists
  bool has_change_event_ = false;   // the server announced changed lists since the last request
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
  // After a failure, lists are not requested and subscriptions not changed until then.
  clock::time_point idle_until_{};
  bool notifies_parts_ = false;  // the server has notified changes of URIs with a query
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
