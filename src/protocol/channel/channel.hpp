/// A connection from a client to one server, whatever carries its messages.
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

/// Names a request of ours and everything that belongs to it. Never used twice on one channel; 0 is none. It is also the
/// JSON-RPC id.
using call_id = std::uint64_t;

/// HTTP's headers as names and values; other channels have none.
using header_fields = std::vector<std::pair<std::string, std::string>>;

/// The call that a message's id, as JSON text, names; nothing for an id that is none of ours.
[[nodiscard]] std::optional<call_id> call_named(std::string_view id) noexcept;

/// Takes the strings `result.contents[item].text` and `.blob` of one answer piece by piece, decoded: bytes. Several calls an
/// item. Threads: one of the channel's, one call at a time. A failure ends the call with it.
using content_sink = std::function<result<void>(std::size_t item, std::string_view bytes)>;

/// A message on its way to the server.
struct outgoing {
  std::string text;  ///< One JSON-RPC message, without line breaks.
  call_id call = 0;  ///< Of a request; 0 for notifications and answers.
  /// What HTTP says beside it, ready to be sent (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`, `MCP-Protocol-Version`). Others
  /// ignore it.
  header_fields headers{};
  /// When set, content of the answer goes there, and the message that is received has empty strings in its place.
  content_sink content{};
  bool is_subscription = false;  ///< The answer is expected to take for ever, with messages before it (`subscriptions/listen`).
  bool is_opening = false;       ///< `initialize`: what the answer's headers say of a session holds from then on.
};

/// Why there will be no more messages for a call. A transport that has no exchange a call (child, memory) never says so, except
/// when the whole connection breaks or the message was unusable.
struct ending {
  failure why{};        ///< source_unavailable, timed_out (to connect), broken_protocol, response_too_large, unauthorized.
  int http_status = 0;  ///< 0: none came.
  std::string body{};   ///< Of an HTTP answer that is no success, at most 64 KiB; often a JSON-RPC error.
  std::string content_type{};
  std::optional<std::chrono::milliseconds> retry_after{};
  std::vector<std::string> challenges{};  ///< `WWW-Authenticate`, of a 401 or 403.
  /// The server has ended the session this was sent in (404 to a session id): initialise anew.
  bool session_has_ended = false;
};

/// Hears what a channel receives. Threads: the channel's own, one call at a time and never from inside `send`, `abandon` or
/// `close`; must not block for long and may call the channel.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// A whole message, not yet parsed, at most the channel's limit. `call`: whose exchange it came in, where transports have
  /// such; 0: not known (child, memory, a stream that belongs to no call).
  virtual void received(call_id call, std::string text) = 0;
  /// Bytes of an answer have come; for calls whose time is counted from the last of them.
  virtual void progressed(call_id call) = 0;
  /// Nothing more comes for this call. Also said after its answer, where the exchange ends later or at the same time: then
  /// `how.why.code` has no meaning. Not said for calls that were abandoned.
  virtual void ended(call_id call, ending how) = 0;
  /// The stream of what the server sends by itself stood still for a while and could not be taken up where it ended: something
  /// may have been missed.
  virtual void interrupted() = 0;
  /// The connection is gone, and every call with it. The next `send` makes it anew: then the server knows nothing of before.
  virtual void broken(failure why) = 0;
};

/// What a channel keeps to.
struct limits {
  std::size_t message_bytes = 64u << 20;     ///< Of one message in memory. A longer one is skipped, and its call ended.
  std::uint64_t content_bytes = 1ull << 40;  ///< Given to one sink.
  std::size_t queued_bytes = 64u << 20;      ///< Waiting to be taken by the server. More: `send` fails the call as overloaded.
};

/// One connection. Threads: any. Destruction closes at once and waits for the channel's threads; not from a listener.
class channel {
 public:
  channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel() = default;

  /// Sends a message, and never blocks. A failure of a request comes as `ended` or `broken`; that of another message is lost
  /// with the connection, which `broken` tells. After `broken`, the next `send` connects or starts anew.
  virtual void send(outgoing message) = 0;
  /// Cancels a call: the listener hears nothing more of it. HTTP closes the exchange. The others discard the answer; a child
  /// process that goes on sending it for more than three seconds or 256 MiB is ended.
  virtual void abandon(call_id call) = 0;
  /// Ends the connection because the server is stuck, and with it the child process or session. The listener's `broken` is
  /// called, and the next `send` connects or starts the program again. Does nothing when there is no connection. `why`
  /// completes the sentence "the server ...": "did not answer a ping".
  virtual void end_connection(std::string why) = 0;
  /// It has been agreed on what is spoken; HTTP sends `fields` with each message that has none of that name. With a session,
  /// Streamable HTTP then opens the stream for what the server sends by itself, names the session with each message, and takes
  /// broken streams up again (`Last-Event-ID`).
  virtual void opened(header_fields fields, bool has_session) = 0;
  /// Forgets the session, before a new `initialize`.
  virtual void forget_session() = 0;
  /// Lets what was sent go out, ends a session, and stops within `time`. Nothing is told any more. Blocks.
  virtual void close(std::chrono::milliseconds time) = 0;
  /// "stdio", "http", "http+sse" or "memory". Constant.
  [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
  /// True when each request has an exchange of its own, whose end is told (Streamable HTTP).
  [[nodiscard]] virtual bool has_exchanges() const noexcept = 0;
};

/// Limits how fast a client reads notifications, requests and bytes that are no messages, so that a server that sends them
/// without end does not keep a processor busy. The sustained rate is 1,000 messages or 4 MB a second; with the default burst a
/// server may send 50,000 messages or 200 MB at once. Answers to pending calls are not counted. Threads: one at a time.
class unsolicited_limit {
 public:
  using clock = monotonic_clock;

  /// `burst`: the time for which the sustained rate may be used up in advance.
  explicit unsolicited_limit(clock::duration burst = std::chrono::seconds(50)) : burst_(burst) {}

  /// Counts a message of `size` bytes.
  void message(std::size_t size) {
    add(message_time);
    bytes(size);
  }
  /// Counts bytes that are no message.
  void bytes(std::size_t count) { add(page_time * static_cast<clock::rep>(count) / page_bytes); }
  /// How long the client must stop reading; zero: not at all.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    const auto ahead = used_until_ - clock::now();
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(ahead, burst_) - burst_);
  }

 private:
  static constexpr clock::duration message_time = std::chrono::milliseconds(1);
  static constexpr clock::duration page_time = std::chrono::milliseconds(1);
  static constexpr clock::rep page_bytes = 4'096;

  void add(clock::duration time) { used_until_ = std::max(used_until_, clock::now()) + time; }

  clock::duration burst_;
  clock::time_point used_until_{};  // when everything counted so far would have arrived at the sustained rate
};

}  // namespace hondana::channel
