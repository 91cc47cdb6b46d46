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

/// At once, and after that never for more than a tenth of the time; ever more seldom while it says so though nothing has
/// changed, as servers do that say it whenever they are asked. Threads: one at a time.
class pacing {
 public:
  using clock = monotonic_clock;

  /// They have been asked for, which took so long. `is_news`: unless it said that they had changed, and they had not.
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

/// One connection, and one thread that makes it, asks for lists and subscribes. Destruction ends both.
/// Threads: any. Nothing blocks but `reach`, `lists` and destruction.
class upstream {
 public:
  /// `options` are checked.
  explicit upstream(mount_options options);
  ~upstream();
  upstream(const upstream&) = delete;
  upstream& operator=(const upstream&) = delete;

  [[nodiscard]] const mount_options& options() const noexcept { return options_; }
  [[nodiscard]] const naming& names() const noexcept { return names_; }
  [[nodiscard]] const rules& which() const noexcept { return which_; }

  /// Why a request cannot go on to the other server without going in a circle; empty when it can.
  [[nodiscard]] std::string circle(const call& by);
  /// The client, once it is connected and has asked for lists. Errors: what keeps it from that, at once while it pauses after a
  /// failure; cancelled, timed_out.
  [[nodiscard]] result<std::shared_ptr<client>> reach(const call& by);
  /// What the server lists. Waits for `list_wait` at most where that is not known, or not any more; null when there is nothing.
  [[nodiscard]] std::shared_ptr<const shelf> lists(const call& by);
  /// What is known now; may be null.
  [[nodiscard]] std::shared_ptr<const shelf> known() const;
  /// The failure that keeps it from the other server at present.
  [[nodiscard]] std::optional<failure> trouble() const;

  /// How a call of the client ended: after failures that mean that the server is away there is a pause, which grows. After one
  /// that took too long the server is asked whether it is still there.
  void ended(const failure& why);
  void succeeded();
  /// Part of an answer, or of its progress, has come.
  void heard();

  struct call_end {
    void operator()(upstream* of) const noexcept;
  };
  /// A call that is under way until this is destroyed.
  using pending_call = std::unique_ptr<upstream, call_end>;
  [[nodiscard]] pending_call begin_call();

  void watch(std::shared_ptr<change_listener> to);
  void attach(const std::string& ours);
  void detach(const std::string& ours);
  /// While lists are attached they are asked for anew when they change, or, of a server that does not say so, when they are
  /// old.
  void attach_list();
  void detach_list();
  /// Also schedules a ping when the server has sent no answer for ten seconds; the next call of this reports its outcome.
  [[nodiscard]] hondana::health health() const;

 private:
  using clock = monotonic_clock;
  enum class job { none, connect, probe, gather, subscribe };

  void run(const std::stop_token& stop);
  /// Goes on with `run` after an exception and a pause.
  void run_on(const std::stop_token& stop);
  [[nodiscard]] job next_job(clock::time_point now) const;
  void connect(const std::stop_token& stop);
  /// Sends a ping, and ends the connection when it is not answered. While the server may still be busy with a call that is
  /// younger than `timeout`, the ping waits until that call is older.
  void probe(const std::stop_token& stop);
  void gather(const std::stop_token& stop);
  void subscribe(const std::stop_token& stop);
  [[nodiscard]] client_options client_options_now();
  [[nodiscard]] client_target target_now() const;
  [[nodiscard]] call_options how(const std::stop_token& stop) const;
  void hear(const change& what);
  void tell_lists();
  void tell_content(const std::string& ours, std::string_view title);
  /// What somebody is subscribed to of what lies above one of our URIs.
  [[nodiscard]] std::vector<std::string> attached_around(const std::string& ours) const;
  void log(std::string_view line) const;

  // With the mutex held.
  void want();
  void note_heard();
  /// The wait for the next answer begins now.
  void restart_silence();
  void happened() const {
    ++events_;
    changed_.notify_all();
  }
  [[nodiscard]] bool pauses(clock::time_point now) const { return failures_ != 0 && now < retry_at_; }
  [[nodiscard]] bool is_fresh(clock::time_point now) const;
  /// When lists are asked for though nobody wants them.
  [[nodiscard]] clock::time_point next_look() const;
  /// Lets go of the lock.
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
  bool is_asked_for_ = false;  // by somebody who waits
  bool is_called_changed_ = false;
  bool owes_lists_ = false;  // somebody was answered without them
  bool list_attached_ = false;
  bool hears_lists_ = false;
  bool is_lost_ = false;             // the connection, as the client says
  mutable bool is_doubted_ = false;  // a ping is to be sent
  clock::time_point heard_at_{};     // an answer of it
  bool probes_in_pause_ = false;     // a ping that is answered ends the pause
  std::size_t calls_under_way_ = 0;
  bool has_given_up_ = false;                      // a call, since something was heard last
  std::optional<clock::time_point> silent_since_;  // since when calls wait, also those that were given up, and nothing comes
  clock::time_point rests_until_{};                // the thread, from lists, after they could not be had
  bool tells_parts_ = false;                       // it has told of a URI with a query
  bool saw_circle_ = false;
  std::uint64_t attempts_ = 0;  // to connect, finished
  std::uint64_t gathers_ = 0;   // finished
  unsigned failures_ = 0;       // in a row
  unsigned steps_ = 0;          // by which the pause has grown: of failures with less than half a minute between them
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

  subscriptions subscriptions_;  // of the thread
  std::jthread thread_;          // started when it is needed first
};

}  // namespace hondana::mcp
