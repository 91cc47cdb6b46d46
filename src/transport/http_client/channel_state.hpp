/// State that all requests of one HTTP channel share, and the queue of messages to send.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
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

/// The session with a server of a revision that has sessions. Threads: the loop's.
struct session_state {
  std::optional<std::string> id{};  ///< `Mcp-Session-Id`; empty optional: none.
  channel::header_fields fields{};  ///< Header fields that each message needs, see `channel::complete_handshake`.
  bool is_open = false;             ///< The handshake is complete.
};

/// State and callbacks that all requests of one channel share. Threads: the loop's, except where noted.
struct channel_state {
  /// `loop` and `listener` must outlive this object. `logger` may be null.
  channel_state(transfer_loop& loop, checked_target destination, channel::channel_listener& listener,
                const channel::limits& bounds, std::function<void(std::string_view)> logger)
      : target(std::move(destination)),
        limits(bounds),
        tokens(loop, target.tokens),
        listener_(listener),
        log_(std::move(logger)) {}

  /// Returns header lines with the session id and `session_state::fields`, except fields that `headers` contains.
  [[nodiscard]] std::vector<std::string> session_lines(const channel::header_fields& headers = {}) const;

  // The following five functions call the listener, unless the channel is closed.
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

  const checked_target target;
  const channel::limits limits;
  token_worker tokens;
  session_state session{};
  channel::unsolicited_rate_limit unsolicited{};
  std::atomic<std::size_t> queued_bytes{0};  ///< Bytes of the messages that wait to be sent. Threads: any.
  std::atomic<bool> is_closed{false};        ///< If true, the listener gets no more calls. Threads: any.

 private:
  channel::channel_listener& listener_;
  std::function<void(std::string_view)> log_;
};

/// Pause before reopening a stream that has ended, if the server has sent no `retry`.
inline constexpr std::chrono::milliseconds default_retry_delay{1'000};
/// Minimum of a pause that the server chose, so that `retry: 0` does not cause a busy loop.
inline constexpr std::chrono::milliseconds min_retry_delay{50};
/// After more consecutive failed attempts to resume a stream, the client gives up.
inline constexpr int max_failed_attempts = 4;

/// Returns the pause before the next attempt, after `failures` failed ones: exponential back-off with jitter, at least
/// `min_delay`. Threads: any.
[[nodiscard]] std::chrono::milliseconds retry_delay(int failures, std::chrono::milliseconds min_delay);

/// Converts an HTTP error, or an answer that is not MCP, into the end of the call. `had_session`: the request named a session,
/// so 404 means that the session has ended.
[[nodiscard]] channel::termination make_termination(const response_head& head, std::string body, const std::string& url,
                                                    bool had_session);

/// Whether `text` is the answer to `call`; also if it is malformed. `id`: the id in `text`, if it is known; otherwise false.
[[nodiscard]] bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call);

/// Calls `start` with `message` on the loop's thread. The bytes of the message count in `channel_state::queued_bytes` until
/// `start` or a later receiver subtracts them. If the limit is exceeded, the call ends as overloaded; a message without call is
/// dropped and logged. Threads: any.
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

/// Decides when messages are sent. At most 32 requests are pending at the server, not counting subscriptions; further ones
/// wait. Notifications and answers are sent at once, because a pending request may wait for them. While the first notification
/// after `initialize` is being sent, requests wait, because some servers reject them before it. Threads: the loop's.
class send_scheduler {
 public:
  /// Identifies a sent message: the number of its call, or a number above `first_without_call`.
  using send_id = std::uint64_t;
  static constexpr send_id first_without_call = send_id{1} << 63U;
  /// How long requests wait for the server's answer to the notification.
  static constexpr std::chrono::milliseconds max_notification_wait{2'000};

  /// `send` must send a message at once. `mark_answered` and `mark_finished` call it only later.
  send_scheduler(transfer_loop& loop, channel_state& state, std::function<void(send_id, channel::outgoing_message)> send);
  ~send_scheduler();
  send_scheduler(const send_scheduler&) = delete;
  send_scheduler& operator=(const send_scheduler&) = delete;

  /// Sends the message now or later.
  void add(channel::outgoing_message message);
  /// Call this when the server has answered a request, so that it no longer counts as pending. May be called inside libcurl's
  /// callbacks.
  void mark_answered(send_id id);
  /// Call this when the HTTP request of a message has ended. True if it was the notification that requests wait for.
  bool mark_finished(send_id id);
  /// Removes a waiting request.
  void drop(channel::call_id call);
  /// Removes all waiting requests, and forgets the sent ones.
  void clear();
  /// Whether the request of the first notification after the last `initialize` has ended.
  [[nodiscard]] bool has_notified() const noexcept { return handshake_ == handshake_state::accepted; }

 private:
  /// `opening`: `initialize` was sent. `accepted`: the notification after it, too.
  enum class handshake_state : std::uint8_t { none, opening, accepted };

  /// Sends a message now.
  void dispatch(channel::outgoing_message message);
  void dispatch_waiting();
  void schedule_dispatch();

  transfer_loop& loop_;
  channel_state& state_;
  std::function<void(send_id, channel::outgoing_message)> send_;
  std::deque<channel::outgoing_message> waiting_;  // requests
  std::unordered_set<send_id> in_flight_;          // pending requests, without subscriptions
  send_id other_count_ = 0;                        // number of sent messages without a call
  handshake_state handshake_ = handshake_state::none;
  std::optional<send_id> notification_;  // the notification in progress that requests wait for
  std::optional<transfer_loop::timer> notification_timer_;
  std::optional<transfer_loop::timer> dispatch_timer_;
};

}  // namespace hondana::transport::http_client
