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
#include <hondana/mcp.hpp>
#include <hondana/provider.hpp>

#include "sources/mcp/mount_chain.hpp"
#include "sources/mcp/subscriptions.hpp"
#include "sources/mcp/upstream_lists.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace hondana::mcp {

/// Schedules requests for lists after change notifications: the first at once, then for at most a tenth of the time. Servers
/// that announce changes although nothing changed, for example after each request, get longer and longer pauses. Threads: one
/// at a time.
class pacing {
 public:
  using clock = monotonic_clock;

  /// Records a request for lists that took `took`. `is_news`: false if the server had announced a change, but nothing changed.
  void asked(clock::time_point now, clock::duration took, bool is_news) {
    pause_ = is_news ? clock::duration::zero() : std::clamp<clock::duration>(2 * pause_, shortest, longest);
    next_ = now + std::max(pause_, std::min<clock::duration>(rest_factor * took, longest));
  }
  [[nodiscard]] clock::time_point next() const noexcept { return next_; }

 private:
  static constexpr std::chrono::milliseconds shortest{50};
  static constexpr std::chrono::seconds longest{10};
  static constexpr int rest_factor = 9;

  clock::duration pause_{};
  clock::time_point next_{};
};

/// One connection, and one thread that connects, requests lists and subscribes. The destructor ends both. Threads: any. Only
/// `reach`, `lists` and the destructor block.
class upstream {
 public:
  /// `options` must have been checked.
  explicit upstream(mount_options options);
  ~upstream();
  upstream(const upstream&) = delete;
  upstream& operator=(const upstream&) = delete;

  [[nodiscard]] const mount_options& options() const noexcept { return options_; }
  [[nodiscard]] const naming& names() const noexcept { return names_; }
  [[nodiscard]] const rules& which() const noexcept { return which_; }

  /// Why a request to the other server would go in a cycle; empty if it would not.
  [[nodiscard]] std::string circle(const call& by);
  /// Returns the client after it has connected and requested lists. Errors: why it cannot, at once during a back-off pause;
  /// cancelled, timed_out.
  [[nodiscard]] result<std::shared_ptr<client>> reach(const call& by);
  /// Returns the server's lists. Waits for at most `list_wait` if they are unknown or outdated; null if there are none.
  [[nodiscard]] std::shared_ptr<const shelf> lists(const call& by);
  /// The lists that are known now; may be null.
  [[nodiscard]] std::shared_ptr<const shelf> known() const;
  /// The failure that currently prevents access to the other server.
  [[nodiscard]] std::optional<failure> trouble() const;

  /// Reports the failure of a client call. If it means that the server is unreachable, a pause follows, which grows. After a
  /// timeout, the server is pinged.
  void ended(const failure& why);
  void succeeded();
  /// Reports that a part of an answer, or progress, has arrived.
  void heard();

  struct call_end {
    void operator()(upstream* of) const noexcept;
  };
  /// A call in progress. It ends when this is destroyed.
  using pending_call = std::unique_ptr<upstream, call_end>;
  [[nodiscard]] pending_call begin_call();

  void watch(std::shared_ptr<change_listener> to);
  void attach(const std::string& ours);
  void detach(const std::string& ours);
  /// While a client listens for list changes, lists are requested again when they change. If the server does not notify
  /// changes, they are requested when they are outdated.
  void attach_list();
  void detach_list();
  /// If the server has sent no answer for ten seconds, also schedules a ping. The next call reports its result.
  [[nodiscard]] hondana::health health() const;

 private:
  using clock = monotonic_clock;
  enum class job { none, connect, probe, gather, subscribe };

  void run(const std::stop_token& stop);
  /// Calls `run` again after an exception and a pause.
  void run_on(const std::stop_token& stop);
  [[nodiscard]] job next_job(clock::time_point now) const;
  void connect(const std::stop_token& stop);
  /// Sends a ping, and ends the connection without an answer. While the server may still be busy with a call that is younger
  /// than `timeout`, waits longer for the answer.
  void probe(const std::stop_token& stop);
  void gather(const std::stop_token& stop);
  void subscribe(const std::stop_token& stop);
  [[nodiscard]] client_options client_options_now();
  [[nodiscard]] client_target target_now() const;
  [[nodiscard]] call_options how(const std::stop_token& stop) const;
  void hear(const change& what);
  void tell_lists();
  void tell_content(const std::string& ours, std::string_view title);
  /// The subscribed URIs above one of our URIs, and its parts.
  [[nodiscard]] std::vector<std::string> attached_around(const std::string& ours) const;
  void log(std::string_view line) const;

  // Call with the mutex held.
  void want();
  void note_heard();
  /// Restarts the wait for an answer.
  void restart_silence();
  void happened() const {
    ++events_;
    changed_.notify_all();
  }
  [[nodiscard]] bool pauses(clock::time_point now) const { return failures_ != 0 && now < retry_at_; }
  [[nodiscard]] bool is_fresh(clock::time_point now) const;
  /// When lists are requested without a caller.
  [[nodiscard]] clock::time_point next_look() const;
  /// Releases the lock.
  void failed(std::unique_lock<std::mutex>& lock, failure why);

  const mount_options options_;
  const naming names_;
  const rules which_;
  chain chain_;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::uint64_t events_ = 0;
  bool is_wanted_ = false;
  bool is_stale_ = true;
  bool is_asked_for_ = false;  // by a waiting caller
  bool is_called_changed_ = false;
  bool owes_lists_ = false;  // a caller was answered without them
  bool list_attached_ = false;
  bool hears_lists_ = false;
  bool is_lost_ = false;             // the connection, as reported by the client
  mutable bool is_doubted_ = false;  // a ping is to be sent
  clock::time_point heard_at_{};     // last answer
  bool probes_in_pause_ = false;     // a successful ping ends the pause
  std::size_t calls_under_way_ = 0;
  bool has_given_up_ = false;  // a call was given up since the last answer
  // Since when calls wait without any data from the server, including calls that were given up.
  std::optional<clock::time_point> silent_since_;
  // After a failed request for lists, no further one is made until then.
  clock::time_point rests_until_{};
  bool tells_parts_ = false;  // it has notified changes of URIs with a query
  bool saw_circle_ = false;
  std::uint64_t attempts_ = 0;  // to connect, finished
  std::uint64_t gathers_ = 0;   // finished
  unsigned failures_ = 0;       // consecutive
  // The number of times the pause was doubled: failures with less than half a minute between them.
  unsigned steps_ = 0;
  clock::time_point failed_at_{};
  clock::time_point retry_at_{};
  std::optional<failure> trouble_;
  std::string logged_trouble_;
  std::uint64_t chain_generation_ = 0;
  wishes wishes_;
  std::uint64_t wishes_fitted_ = 0;
  std::shared_ptr<const shelf> shelf_;
  clock::time_point shelf_time_{};
  pacing pacing_;
  std::shared_ptr<change_listener> listener_;
  std::shared_ptr<client> client_;

  subscriptions subscriptions_;  // used by the thread only
  std::jthread thread_;          // started on first use
};

}  // namespace hondana::mcp
