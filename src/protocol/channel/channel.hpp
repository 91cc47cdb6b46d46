/// A connection from a client to one server, independent of the transport.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::channel {

/// The id of one of our requests, also used as its JSON-RPC id. Unique within a channel; 0 means none.
using call_id = std::uint64_t;

/// HTTP headers as names and values. Other transports have none.
using header_fields = std::vector<std::pair<std::string, std::string>>;

/// The call that a message id (JSON text) refers to; nothing for an id that is not ours.
[[nodiscard]] std::optional<call_id> parse_call_id(std::string_view text) noexcept;

/// Receives the strings `result.contents[item].text` and `.blob` of one answer in pieces, decoded to bytes.
/// Called several times per item. A failure ends the call with that failure. Threads: a thread of the channel, one call at a
/// time.
using content_sink = std::function<result<void>(std::size_t item, std::string_view bytes)>;

/// A message to the server.
struct outgoing_message {
  std::string text;  ///< One JSON-RPC message, without line breaks.
  call_id call = 0;  ///< For requests; 0 for notifications and answers.
  /// HTTP headers that repeat parts of the message (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`, `MCP-Protocol-Version`).
  /// Other transports ignore them.
  header_fields headers{};
  /// If set, contents of the answer go to this sink, and the received message has empty strings in their place.
  content_sink content{};
  bool is_subscription = false;  ///< The answer never ends, and messages arrive before it (`subscriptions/listen`).
  bool is_opening = false;       ///< `initialize`: the headers of its answer define the session.
};

/// Why no more messages will arrive for a call.
/// Transports without an exchange per call (child, memory) only report this if the connection breaks or the message was
/// unusable.
struct termination {
  failure reason{};     ///< source_unavailable, timed_out (connecting), protocol_error, response_too_large, unauthorized.
  int http_status = 0;  ///< 0: no HTTP response arrived.
  std::string body{};   ///< The body of an unsuccessful HTTP response, at most 64 KiB; often a JSON-RPC error.
  std::string content_type{};
  std::optional<std::chrono::milliseconds> retry_after{};
  std::vector<std::string> challenges{};  ///< The `WWW-Authenticate` headers of a 401 or 403.
  /// The server has ended the session (404 for a session id). Send a new `initialize`.
  bool session_has_ended = false;
};

/// Receives the events of a channel. Callbacks must not block for long, and may call the channel.
/// Threads: the channel's, one call at a time, and never from inside `send`, `abandon` or `close`.
class channel_listener {
 public:
  channel_listener() = default;
  channel_listener(const channel_listener&) = delete;
  channel_listener& operator=(const channel_listener&) = delete;
  virtual ~channel_listener() = default;

  /// A complete message, not parsed yet, within the channel's size limit.
  /// `call`: the call whose exchange it arrived in; 0: unknown (child, memory, or a stream that belongs to no call).
  virtual void on_message(call_id call, std::string text) = 0;
  /// Bytes of an answer have arrived. For calls whose timeout restarts with each arrival.
  virtual void on_progress(call_id call) = 0;
  /// No more messages will arrive for this call. Not called for abandoned calls.
  /// Also called after the answer, when the exchange ends; `termination.reason.code` is then meaningless.
  virtual void on_call_finished(call_id call, termination termination) = 0;
  /// The stream of unsolicited server messages was interrupted and could not be resumed. Messages may have been lost.
  virtual void on_stream_interrupted() = 0;
  /// The connection is lost, with all of its calls. The next `send` reconnects to a server without the previous state.
  virtual void on_connection_lost(failure reason) = 0;
};

/// The limits of a channel.
struct limits {
  std::size_t max_message_bytes = 64u << 20;  ///< Of one message in memory. A longer message is skipped, and its call is ended.
  std::uint64_t max_content_bytes = 1ull << 40;  ///< Passed to one sink.
  std::size_t max_queued_bytes = 64u << 20;      ///< Waiting to be sent. Beyond this, `send` fails the call as overloaded.
};

/// One connection. Threads: any. Destruction closes it immediately and waits for its threads; never destroy it from a listener.
class channel {
 public:
  channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel() = default;

  /// Sends a message without blocking. If a request fails, the listener gets `on_call_finished` or `on_connection_lost`.
  /// A failure of another message is only reported by `on_connection_lost`. After `on_connection_lost`, the next `send`
  /// reconnects or restarts the program.
  virtual void send(outgoing_message message) = 0;
  /// Cancels a call: the listener gets no more events of it. HTTP closes the exchange, other transports discard the answer.
  /// A child process that continues to send it for more than three seconds or 256 MiB is ended.
  virtual void abandon(call_id call) = 0;
  /// Ends the connection because the server is stuck, together with the child process or session.
  /// Calls `on_connection_lost` of the listener. The next `send` reconnects or restarts the program. Does nothing without a
  /// connection. `reason` completes the sentence "the server ...": "did not answer a ping".
  virtual void end_connection(std::string reason) = 0;
  /// Tells the transport that client and server have agreed on a revision.
  /// HTTP adds `headers` to each message that lacks them. With a session, Streamable HTTP opens the stream of unsolicited
  /// messages, sends the session id with each message, and resumes broken streams (`Last-Event-ID`).
  virtual void complete_handshake(header_fields headers, bool has_session) = 0;
  /// Discards the session, before a new `initialize`.
  virtual void discard_session() = 0;
  /// Sends pending messages, ends the session, and stops within `timeout`. Reports no more events. Blocks.
  virtual void close(std::chrono::milliseconds timeout) = 0;
  /// "stdio", "http", "http+sse" or "memory". Constant.
  [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
  /// Whether each request has its own exchange, whose end is reported (Streamable HTTP).
  [[nodiscard]] virtual bool has_exchanges() const noexcept = 0;
};

/// Limits how fast a client reads notifications, requests and invalid bytes, so that a server cannot keep a processor busy.
/// The sustained rate is 1,000 messages or 4 MB per second. With the default burst, a server may send 50,000 messages or 200 MB
/// at once. Answers to pending calls are not counted. Threads: one at a time.
class unsolicited_rate_limit {
 public:
  using clock = monotonic_clock;

  /// `burst`: how much of the sustained rate, as a duration, can be used in advance.
  explicit unsolicited_rate_limit(clock::duration burst = std::chrono::seconds(50)) : burst_(burst) {}

  /// Counts a message of `size` bytes.
  void count_message(std::size_t size) {
    add(time_per_message);
    count_bytes(size);
  }
  /// Counts bytes that are not a message.
  void count_bytes(std::size_t count) { add(time_per_page * static_cast<clock::rep>(count) / page_bytes); }
  /// How long the client must stop reading; zero: it may continue.
  [[nodiscard]] std::chrono::milliseconds delay() const {
    const auto ahead = used_until_ - clock::now();
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(ahead, burst_) - burst_);
  }

 private:
  static constexpr clock::duration time_per_message = std::chrono::milliseconds(1);
  static constexpr clock::duration time_per_page = std::chrono::milliseconds(1);
  static constexpr clock::rep page_bytes = 4'096;

  void add(clock::duration time) { used_until_ = std::max(used_until_, clock::now()) + time; }

  clock::duration burst_;
  clock::time_point used_until_{};  // when everything counted so far would have arrived at the sustained rate
};

}  // namespace hondana::channel
