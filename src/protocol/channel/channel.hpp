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

/// The call that the id of a message (JSON text) refers to; nullopt if it is not the id of one of our requests.
[[nodiscard]] std::optional<call_id> parse_call_id(std::string_view text) noexcept;

/// Receives the contents of one answer (`result.contents[item].text` and `.blob`) in pieces, decoded to bytes.
/// Called several times per item. If it returns a failure, the `call_id` fails with it.
/// Threads: a thread of the channel, one call at a time.
using content_sink = std::function<result<void>(std::size_t item, std::string_view bytes)>;

/// A message to the server.
struct outgoing_message {
  std::string text;  ///< One JSON-RPC message, without line breaks.
  call_id call = 0;  ///< For requests: the id in `text`; 0 for notifications and answers.
  /// HTTP headers that repeat parts of the message (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`, `MCP-Protocol-Version`).
  /// Other transports ignore them.
  header_fields headers{};
  /// If set, this sink gets the contents of the answer, and the received message has empty strings in their place.
  content_sink content{};
  bool is_subscription = false;  ///< The answer never ends, and messages arrive before it (`subscriptions/listen`).
  bool is_opening = false;       ///< `initialize`: the headers of its answer define the session.
};

/// Why no more messages will arrive for a call.
struct termination {
  failure reason{};     ///< source_unavailable, timed_out (connecting), protocol_error, response_too_large, unauthorized.
  int http_status = 0;  ///< 0: no HTTP response arrived.
  std::string body{};   ///< The body of an unsuccessful HTTP response, at most 64 KiB; often a JSON-RPC error.
  std::string content_type{};                              ///< Of `body`.
  std::optional<std::chrono::milliseconds> retry_after{};  ///< The `Retry-After` header of an unsuccessful response.
  std::vector<std::string> challenges{};                   ///< The `WWW-Authenticate` headers of a 401 or 403.
  /// The server has ended the session (404 for a session id). The client must send a new `initialize`.
  bool session_has_ended = false;
};

/// Receives the events of a channel. Callbacks must not block for long. They may call the channel.
/// Threads: the channel's, one call at a time, and never from inside `send`, `abandon` or `close`.
class channel_listener {
 public:
  channel_listener() = default;
  channel_listener(const channel_listener&) = delete;
  channel_listener& operator=(const channel_listener&) = delete;
  virtual ~channel_listener() = default;

  /// A complete message has arrived, within `limits::max_message_bytes`. It may be invalid JSON.
  /// `call`: the call whose HTTP exchange it arrived in; 0: unknown (other transports, or a stream without a call).
  virtual void on_message(call_id call, std::string text) = 0;
  /// Bytes of an answer have arrived. For calls whose timeout restarts with each arrival.
  virtual void on_progress(call_id call) = 0;
  /// No more messages will arrive for this call. Not called for abandoned calls.
  /// Channels with exchanges (`has_exchanges`) also call this after an answer; `termination.reason.code` is then meaningless.
  /// Other channels call it only if the answer is unusable or the message cannot be sent.
  virtual void on_call_finished(call_id call, termination termination) = 0;
  /// The stream of unsolicited server messages was interrupted and could not be resumed. Messages may have been lost.
  virtual void on_stream_interrupted() = 0;
  /// The connection is lost, with all of its calls. The next `send` reconnects to a server without the previous state.
  virtual void on_connection_lost(failure reason) = 0;
};

/// The limits of a channel.
struct limits {
  /// For one received message in memory, without contents that go to a sink. A longer message is skipped, and its call fails.
  std::size_t max_message_bytes = 64u << 20;
  std::uint64_t max_content_bytes = 1ull << 40;  ///< For the contents of one answer that go to a sink, decoded.
  std::size_t max_queued_bytes = 64u << 20;      ///< For messages that wait to be sent. Further calls fail as overloaded.
};

/// A connection to one server. Threads: any.
/// Destruction closes it immediately and waits for its threads, so a listener must not destroy it.
class channel {
 public:
  channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel() = default;

  /// Sends a message without blocking. If a request fails, the listener gets `on_call_finished` or `on_connection_lost`.
  /// Failures of notifications and answers are only reported by `on_connection_lost`. After that, the next `send` reconnects or
  /// restarts the program.
  virtual void send(outgoing_message message) = 0;
  /// Abandons a call: the listener gets no more events of it. HTTP closes the exchange, other transports discard the answer.
  /// A child process that continues to send the answer for more than three seconds or 256 MiB is ended.
  virtual void abandon(call_id call) = 0;
  /// Ends the connection because the server is stuck, together with the child process or session.
  /// The listener gets `on_connection_lost`. The next `send` reconnects or restarts the program. Does nothing without a
  /// connection, and for "memory".
  /// `reason`: completes the sentence "the server …": "did not answer a ping".
  virtual void end_connection(std::string reason) = 0;
  /// Informs the transport that client and server have agreed on a revision. Only HTTP uses this.
  /// HTTP adds `headers` to each message that lacks them. With a session, Streamable HTTP opens the stream of unsolicited
  /// messages, sends the session id with each message, and resumes broken streams (`Last-Event-ID`).
  virtual void complete_handshake(header_fields headers, bool has_session) = 0;
  /// Discards the session. To be called before a new `initialize`.
  virtual void discard_session() = 0;
  /// Sends waiting messages, ends the session, and stops within `timeout`. The listener gets no more events. Blocks.
  virtual void close(std::chrono::milliseconds timeout) = 0;
  /// "stdio", "http", "http+sse" or "memory". Constant.
  [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
  /// Whether each request has its own HTTP exchange, whose end `on_call_finished` reports (Streamable HTTP). Constant.
  [[nodiscard]] virtual bool has_exchanges() const noexcept = 0;
};

/// Limits how fast a client reads unsolicited input: notifications, requests and invalid bytes. A server can then not keep a
/// processor busy.
/// The sustained rate is 1,000 messages or 4 MB per second. With the default burst, a server may send 50,000 messages or 200 MB
/// at once. Callers do not count answers to pending calls. Threads: one at a time.
class unsolicited_rate_limit {
 public:
  using clock = monotonic_clock;

  /// `burst`: a server may send at once what the sustained rate allows in this time.
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
