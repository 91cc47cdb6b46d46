/// State that all exchanges of one channel share: the session, and the queue of outgoing messages.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "protocol/channel/channel.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/response_head.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// What is known of the session with a server of an older revision. Threads: the loop's.
struct session_state {
  std::optional<std::string> id{};
  channel::header_fields fields{};  ///< Of each message.
  bool is_open = false;
};

/// Threads: the loop's, but for what says otherwise.
struct conversation {
  conversation(loop& within, checked_target to, channel::listener& hears, const channel::limits& keeps,
               std::function<void(std::string_view)> logs)
      : target(std::move(to)), most(keeps), tokens(within, target.tokens), listener_(hears), log_(std::move(logs)) {}

  /// The lines that say which session a message with these headers belongs to; those that it has itself are left out.
  [[nodiscard]] std::vector<std::string> session_lines(const channel::header_fields& headers = {}) const;

  void received(channel::call_id call, std::string text) {
    if (!is_closed) listener_.received(call, std::move(text));
  }
  void progressed(channel::call_id call) {
    if (!is_closed) listener_.progressed(call);
  }
  void ended(channel::call_id call, channel::ending how) {
    if (!is_closed) listener_.ended(call, std::move(how));
  }
  void interrupted() {
    if (!is_closed) listener_.interrupted();
  }
  void broken(failure why) {
    if (!is_closed) listener_.broken(std::move(why));
  }
  /// Threads: any.
  void log(std::string_view line) const {
    if (log_) log_(line);
  }

  /// Before the attempt after `failures` failed ones: never less than `least`, doubling, with jitter.
  [[nodiscard]] std::chrono::milliseconds pause_after(int failures, std::chrono::milliseconds least);

  const checked_target target;
  const channel::limits most;
  token_worker tokens;
  session_state session{};
  channel::unsolicited_limit unsolicited{};
  std::atomic<std::size_t> queued_bytes{0};  ///< Threads: any.
  std::atomic<bool> is_closed{false};        ///< The listener hears no more. Threads: any.

 private:
  channel::listener& listener_;
  std::function<void(std::string_view)> log_;
  std::minstd_rand random_{std::random_device{}()};
};

/// Until a stream that has ended is asked for again, where the server has not said when.
inline constexpr std::chrono::milliseconds usual_pause{1'000};
/// The least pause, so that a server that says 0 is not asked all the time.
inline constexpr std::chrono::milliseconds least_pause{50};
/// Failed attempts to take a stream up again, one after another.
inline constexpr int max_failed_attempts = 4;

/// What an HTTP answer that is no success, or no answer to a call, means for it.
[[nodiscard]] channel::ending ending_for(const response_head& head, std::string body, const std::string& url, bool had_session);

/// Whether `text` is the answer to `call`; its id is known to be `id`.
[[nodiscard]] bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call);

/// Calls `start` with `message` on the loop's thread; its bytes count as queued until somebody takes them off
/// `conversation::queued_bytes`. Where there is no room for them, the call ends as overloaded. Threads: any.
template <class Start>
void enqueue(loop& within, conversation& in, channel::outgoing message, Start start) {
  if (in.is_closed) return;
  const auto size = message.text.size();
  if (in.queued_bytes.fetch_add(size) + size > in.most.queued_bytes) {
    in.queued_bytes -= size;
    within.post([&in, call = message.call] {
      channel::ending how;
      how.why = {errc::overloaded,
                 "more than " + std::to_string(in.most.queued_bytes) +
                     " bytes are waiting to be sent to the server; send less at once or retry later",
                 {},
                 nullptr};
      if (call == 0) in.log("a message was lost: " + how.why.public_text);
      if (call != 0) in.ended(call, std::move(how));
    });
    return;
  }
  // A std::function must be copyable, a message need not be copied.
  auto held = std::make_shared<channel::outgoing>(std::move(message));
  if (!within.post([held, start = std::move(start)] { start(std::move(*held)); })) in.queued_bytes -= size;
}

/// At most 32 requests are with the server at once, subscriptions not counted. Notifications and answers never wait, since a
/// request under way may be waiting for them; but requests do wait until the server has taken the first notification after
/// the opening, without which some servers refuse them. Threads: the loop's.
class departures {
 public:
  /// Names a message that has gone: a call's is its number, the others' are above all calls.
  using name = std::uint64_t;
  static constexpr name first_other = name{1} << 63U;
  /// A server that does not answer a notification holds nobody up for longer.
  static constexpr std::chrono::milliseconds longest_notice{2'000};

  /// `go` begins a message; not called from inside a transfer.
  departures(loop& within, conversation& in, std::function<void(name, channel::outgoing)> go);
  ~departures();
  departures(const departures&) = delete;
  departures& operator=(const departures&) = delete;

  /// Lets it go, now or later.
  void add(channel::outgoing message);
  /// The server has no more to do with it. May be called from inside a transfer.
  void answered(name of);
  /// True when it was the notification that others wait for.
  bool over(name of);
  /// Forgets one that waits.
  void drop(channel::call_id call);
  /// Forgets all that wait, and those that have gone.
  void clear();
  /// The server has taken a notification since the last opening.
  [[nodiscard]] bool has_notified() const noexcept { return state_ == notice_state::taken; }

 private:
  enum class notice_state : std::uint8_t { none, opening, taken };

  void let_go(channel::outgoing message);
  void let_waiting_go();
  void soon();

  loop& loop_;
  conversation& in_;
  std::function<void(name, channel::outgoing)> go_;
  std::deque<channel::outgoing> waiting_;
  std::unordered_set<name> busy_;
  name others_ = 0;
  notice_state state_ = notice_state::none;
  std::optional<name> notice_;  // under way, and others wait for it
  std::optional<loop::timer> patience_;
  std::optional<loop::timer> soon_;
};

}  // namespace hondana::transport::http_client
