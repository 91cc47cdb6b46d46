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
struct channel_state {
  channel_state(transfer_loop& loop, checked_target destination, channel::channel_listener& listener,
                const channel::limits& bounds, std::function<void(std::string_view)> logger)
      : target(std::move(destination)),
        limits(bounds),
        tokens(loop, target.tokens),
        listener_(listener),
        log_(std::move(logger)) {}

  /// Header lines that name the session, for a message with these headers. Fields that the message itself has are left out.
  [[nodiscard]] std::vector<std::string> session_lines(const channel::header_fields& headers = {}) const;

  void on_message(channel::call_id call, std::string text) {
    if (!is_closed) listener_.on_message(call, std::move(text));
  }
  void on_progress(channel::call_id call) {
    if (!is_closed) listener_.on_progress(call);
  }
  void on_call_finished(channel::call_id call, channel::termination termination) {
    if (!is_closed) listener_.on_call_finished(call, std::move(termination));
  }
  void on_stream_interrupted() {
    if (!is_closed) listener_.on_stream_interrupted();
  }
  void on_connection_lost(failure error) {
    if (!is_closed) listener_.on_connection_lost(std::move(error));
  }
  /// Threads: any.
  void log(std::string_view line) const {
    if (log_) log_(line);
  }

  /// Pause before the next attempt, after `failures` failed ones: exponential back-off with jitter, at least `min_delay`.
  [[nodiscard]] std::chrono::milliseconds backoff(int failures, std::chrono::milliseconds min_delay);

  const checked_target target;
  const channel::limits limits;
  token_worker tokens;
  session_state session{};
  channel::unsolicited_rate_limit unsolicited{};
  std::atomic<std::size_t> queued_bytes{0};  ///< Bytes of messages waiting to be sent. Threads: any.
  std::atomic<bool> is_closed{false};        ///< No more callbacks to the listener. Threads: any.

 private:
  channel::channel_listener& listener_;
  std::function<void(std::string_view)> log_;
  std::minstd_rand random_{std::random_device{}()};
};

/// Pause before reopening a stream that has ended, if the server has sent no `retry`.
inline constexpr std::chrono::milliseconds default_retry_delay{1'000};
/// Minimum pause, so that `retry: 0` does not cause a busy loop.
inline constexpr std::chrono::milliseconds min_retry_delay{50};
/// Consecutive failed attempts to resume a stream, before giving up.
inline constexpr int max_failed_attempts = 4;

/// Converts an HTTP error, or an answer that is not MCP, into the end of the call.
[[nodiscard]] channel::termination make_termination(const response_head& head, std::string body, const std::string& url,
                                                    bool had_session);

/// Whether `text` is the answer to `call`. `id`: the id in `text`, if known.
[[nodiscard]] bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call);

/// Calls `start` with `message` on the loop's thread. The bytes of the message count in `channel_state::queued_bytes` until its
/// receiver subtracts them. If the limit is exceeded, the call ends as overloaded. Threads: any.
template <class Start>
void enqueue(transfer_loop& loop, channel_state& state, channel::outgoing_message message, Start start) {
  if (state.is_closed) return;
  const auto size = message.text.size();
  if (state.queued_bytes.fetch_add(size) + size > state.limits.max_queued_bytes) {
    state.queued_bytes -= size;
    loop.post([&state, call = message.call] {
      channel::termination termination;
      termination.reason = {errc::overloaded,
                            "more than " + std::to_string(state.limits.max_queued_bytes) +
                                " bytes are waiting to be sent to the server; send less at once or retry later",
                            {},
                            nullptr};
      if (call == 0) state.log("a message was lost: " + termination.reason.public_text);
      if (call != 0) state.on_call_finished(call, std::move(termination));
    });
    return;
  }
  // A std::function must be copyable; the shared pointer avoids copying the message.
  auto queued = std::make_shared<channel::outgoing_message>(std::move(message));
  if (!loop.post([queued, start = std::move(start)] { start(std::move(*queued)); })) state.queued_bytes -= size;
}

/// Decides when messages are sent. At most 32 requests are pending at the server, not counting subscriptions. Notifications and
/// answers are sent at once, since a pending request may wait for them. Requests wait until the server has accepted the first
/// notification after `initialize`, because some servers reject them before that. Threads: the loop's.
class send_scheduler {
 public:
  /// Identifies a sent message: the number of its call, or a number above all calls.
  using send_id = std::uint64_t;
  static constexpr send_id first_without_call = send_id{1} << 63U;
  /// Maximum wait for a server that does not answer the notification.
  static constexpr std::chrono::milliseconds max_notification_wait{2'000};

  /// `send` sends a message; it is not called from inside a transfer.
  send_scheduler(transfer_loop& loop, channel_state& state, std::function<void(send_id, channel::outgoing_message)> send);
  ~send_scheduler();
  send_scheduler(const send_scheduler&) = delete;
  send_scheduler& operator=(const send_scheduler&) = delete;

  /// Sends the message now or later.
  void add(channel::outgoing_message message);
  /// The server has answered the request. May be called from inside a transfer.
  void mark_answered(send_id id);
  /// The exchange of the message has ended. True if it was the notification that requests wait for.
  bool mark_finished(send_id id);
  /// Removes a waiting request.
  void drop(channel::call_id call);
  /// Removes all waiting requests, and forgets the sent ones.
  void clear();
  /// Whether the server has accepted a notification since the last `initialize`.
  [[nodiscard]] bool has_notified() const noexcept { return handshake_ == handshake_state::accepted; }

 private:
  enum class handshake_state : std::uint8_t { none, opening, accepted };

  void dispatch(channel::outgoing_message message);
  void dispatch_waiting();
  void schedule_dispatch();

  transfer_loop& loop_;
  channel_state& state_;
  std::function<void(send_id, channel::outgoing_message)> send_;
  std::deque<channel::outgoing_message> waiting_;
  std::unordered_set<send_id> in_flight_;
  send_id other_count_ = 0;
  handshake_state handshake_ = handshake_state::none;
  std::optional<send_id> notification_;  // the notification in progress that requests wait for
  std::optional<transfer_loop::timer> notification_timer_;
  std::optional<transfer_loop::timer> dispatch_timer_;
};

}  // namespace hondana::transport::http_client
