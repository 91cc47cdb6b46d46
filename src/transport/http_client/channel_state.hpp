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

/// The session with a legacy server. Threads: the loop's.
struct session_state {
  std::optional<std::string> id{};
  channel::header_fields fields{};  ///< Header fields of each message.
  bool is_open = false;
};

/// State and callbacks that all exchanges of one channel share. Threads: the loop's, except where noted.
struct conversation {
  conversation(loop& within, checked_target to, channel::listener& hears, const channel::limits& keeps,
               std::function<void(std::string_view)> logs)
      : target(std::move(to)), most(keeps), tokens(within, target.tokens), listener_(hears), log_(std::move(logs)) {}

  /// Header lines that name the session, for a message with these headers. Fields that the message itself has are left out.
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

  /// Pause before the next attempt, after `failures` failed ones: exponential back-off with jitter, at least `least`.
  [[nodiscard]] std::chrono::milliseconds pause_after(int failures, std::chrono::milliseconds least);

  const checked_target target;
  const channel::limits most;
  token_worker tokens;
  session_state session{};
  channel::unsolicited_limit unsolicited{};
  std::atomic<std::size_t> queued_bytes{0};  ///< Bytes of messages waiting to be sent. Threads: any.
  std::atomic<bool> is_closed{false};        ///< No more callbacks to the listener. Threads: any.

 private:
  channel::listener& listener_;
  std::function<void(std::string_view)> log_;
  std::minstd_rand random_{std::random_device{}()};
};

/// Pause before reopening a stream that has ended, if the server has sent no `retry`.
inline constexpr std::chrono::milliseconds usual_pause{1'000};
/// Minimum pause, so that `retry: 0` does not cause a busy loop.
inline constexpr std::chrono::milliseconds least_pause{50};
/// Consecutive failed attempts to resume a stream, before giving up.
inline constexpr int max_failed_attempts = 4;

/// Converts an HTTP error, or an answer that is not MCP, into the end of the call.
[[nodiscard]] channel::ending ending_for(const response_head& head, std::string body, const std::string& url, bool had_session);

/// Whether `text` is the answer to `call`. `id`: the id in `text`, if known.
[[nodiscard]] bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call);

/// Calls `start` with `message` on the loop's thread. The bytes of the message count in `conversation::queued_bytes` until its
/// receiver subtracts them. If the limit is exceeded, the call ends as overloaded. Threads: any.
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
  // A std::function must be copyable; the shared pointer avoids copying the message.
  auto held = std::make_shared<channel::outgoing>(std::move(message));
  if (!within.post([held, start = std::move(start)] { start(std::move(*held)); })) in.queued_bytes -= size;
}

/// Decides when messages are sent. At most 32 requests are pending at the server, not counting subscriptions. Notifications and
/// answers are sent at once, since a pending request may wait for them. Requests wait until the server has accepted the first
/// notification after `initialize`, because some servers reject them before that. Threads: the loop's.
class departures {
 public:
  /// Identifies a sent message: the number of its call, or a number above all calls.
  using name = std::uint64_t;
  static constexpr name first_other = name{1} << 63U;
  /// Maximum wait for a server that does not answer the notification.
  static constexpr std::chrono::milliseconds longest_notice{2'000};

  /// `go` sends a message; it is not called from inside a transfer.
  departures(loop& within, conversation& in, std::function<void(name, channel::outgoing)> go);
  ~departures();
  departures(const departures&) = delete;
  departures& operator=(const departures&) = delete;

  /// Sends the message now or later.
  void add(channel::outgoing message);
  /// The server has answered the request. May be called from inside a transfer.
  void answered(name of);
  /// The exchange of the message has ended. True if it was the notification that requests wait for.
  bool over(name of);
  /// Removes a waiting request.
  void drop(channel::call_id call);
  /// Removes all waiting requests, and forgets the sent ones.
  void clear();
  /// Whether the server has accepted a notification since the last `initialize`.
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
  std::optional<name> notice_;  // the notification in progress that requests wait for
  std::optional<loop::timer> patience_;
  std::optional<loop::timer> soon_;
};

}  // namespace hondana::transport::http_client
