/// The state machine of one HTTP/1 connection: bytes and events in, bytes and requests out.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <hondana/clock.hpp>
#include <hondana/resource.hpp>

#include "base/executor/batching.hpp"
#include "base/json/buffer.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/message_stream.hpp"
#include "transport/http_server/request_parser.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// A streamed answer: the rest of the body, and the last piece of it. Only one thread at a time uses it.
struct outgoing_body {
  rpc::body content;
  json::buffer piece;
  int status = 200;         // of an answer whose header is sent with the first piece
  std::string fields;       // additional lines of that header
  bool has_length = false;  // the header has a Content-Length
};

/// The functions that `http1_protocol` calls on its connection. They must not call back before they return.
class http1_handler {
 public:
  /// Identifies one request of the connection. Results for other requests are late and dropped.
  using request_id = std::uint64_t;

  http1_handler() = default;
  http1_handler(const http1_handler&) = delete;
  http1_handler& operator=(const http1_handler&) = delete;
  virtual ~http1_handler() = default;

  /// Success: the request may continue. Otherwise: the answer to send.
  using auth_outcome = tl::expected<void, plain_response>;
  /// Authenticates the caller by a header and its route; both live until the result. Empty: it takes a while, and
  /// `http1_protocol::on_authenticated` follows.
  [[nodiscard]] virtual std::optional<auth_outcome> authenticate(const request_head& head, const route& route,
                                                                 request_id id) = 0;
  /// Handles a message; `http1_protocol::send_portion` follows. `message` is valid until this returns.
  virtual void receive(std::string_view message, const rpc::http_headers& headers, request_id id) = 0;
  /// Answers a message that exceeds the limit; `http1_protocol::send_portion` follows.
  virtual void reject_oversized(const rpc::http_headers& headers, request_id id) = 0;
  /// Opens the stream of a session; `http1_protocol::send_portion` follows. Otherwise returns the error.
  [[nodiscard]] virtual std::optional<rpc::outgoing_response> open_stream(const rpc::http_headers& headers, request_id id) = 0;
  /// Opens a session whose messages are all sent in the answer to this request; `http1_protocol::send_portion` follows.
  /// Otherwise returns the error.
  [[nodiscard]] virtual std::optional<rpc::outgoing_response> open_sse(request_id id) = 0;
  /// Passes a message to such a session, and returns the answer to the POST.
  [[nodiscard]] virtual rpc::outgoing_response receive_sse_message(std::string_view message,
                                                                   const rpc::http_headers& headers) = 0;
  /// Ends a session, and returns the answer.
  [[nodiscard]] virtual rpc::outgoing_response end_session(const rpc::http_headers& headers) = 0;
  /// The peer is gone: cancels the request in progress.
  virtual void cancel() = 0;
  /// Calls `body->content.pull(body->piece)` on `next_executor()`; `http1_protocol::on_pulled` follows. Errors: those of
  /// `executor::executor::submit`.
  [[nodiscard]] virtual result<void> pull(std::shared_ptr<outgoing_body> body, request_id id) = 0;
  /// An empty buffer for a piece, preferably a recently used one. Default: a new one.
  [[nodiscard]] virtual json::buffer acquire_buffer() { return {}; }
  /// Returns such a buffer for reuse.
  virtual void recycle_buffer(json::buffer buffer) { static_cast<void>(buffer); }
  /// For `route::kind::health`, `ready` or `metrics`.
  [[nodiscard]] virtual plain_response report(route::kind kind) = 0;
  /// For `route::kind::metadata` about `path`.
  [[nodiscard]] virtual plain_response describe_resource(const request_head& head, std::string_view path) = 0;
  /// For `route::kind::webhook` to `name`. Default: no source has that name.
  [[nodiscard]] virtual plain_response receive_webhook(const request_head& head, std::string_view name);
  /// A request was rejected, with this status, before a session received it.
  virtual void on_rejected(int status) = 0;
  /// A request was rejected because of its Host or Origin; `reason` is for the log. Default: nothing.
  virtual void log_foreign_request(const request_head& head, std::string_view reason) {
    static_cast<void>(head);
    static_cast<void>(reason);
  }
  virtual void log(std::string_view line) = 0;
};

/// Parses requests and writes answers, one after another, in order. Performs no I/O. Threads: one at a time.
///
/// The driver writes `output()` and then calls `on_drained()`; reads while `wants_input()`; calls `expire()` at `deadline()`;
/// and closes the connection when `is_closed()`.
class http1_protocol {
 public:
  using clock = monotonic_clock;
  using request_id = http1_handler::request_id;

  /// `site`: where the connection was accepted. `body_budget` (budget of unfinished messages) and `unsent_budget` (budget of
  /// answers) are shared by all connections of the server.
  http1_protocol(http1_handler& host, std::shared_ptr<const limits> limits, std::shared_ptr<const site> site,
                 std::shared_ptr<byte_budget> body_budget, std::shared_ptr<byte_budget> unsent_budget);

  void receive(std::string_view bytes);
  /// The result of the authentication. Late results are dropped.
  void on_authenticated(request_id id, http1_handler::auth_outcome outcome);
  /// Whether part of a request has been read, but no part of its answer is prepared.
  [[nodiscard]] bool owes_response() const noexcept {
    return state_ == state::reading_head || state_ == state::authenticating || state_ == state::reading_body ||
           state_ == state::handling;
  }
  [[nodiscard]] bool is_authenticating(request_id id) const noexcept {
    return id == request_id_ && state_ == state::authenticating;
  }
  /// The peer sends no more. This counts as a disconnect, even if the peer has closed only its sending side.
  void end_of_input();
  /// The peer accepted so many bytes of `output()`.
  void on_written(std::size_t bytes);
  /// The peer accepted all of `output()`.
  void on_drained();
  /// Whether the next portion of the answer in progress can be sent.
  [[nodiscard]] bool wants_portion() const noexcept { return state_ == state::handling || state_ == state::streaming; }
  /// Sends one portion of the answer; call it only if `wants_portion()`. `fields`: additional header lines of the answer, each
  /// ending with CR LF.
  void send_portion(request_id id, portion part, std::string_view fields = {});
  /// Whether all events so far have been sent, so that the driver may send more itself.
  [[nodiscard]] bool is_idle_stream() const noexcept { return state_ == state::streaming && !is_draining_; }
  /// Whether such events need chunk framing.
  [[nodiscard]] bool is_chunked() const noexcept { return !is_http_1_0_; }
  /// The driver has sent events itself, except `unsent`.
  void on_events_sent(std::string_view unsent);
  /// Sends a whole answer.
  void send_response(request_id id, rpc::outgoing_response response);
  void on_pulled(request_id id, const result<bool>& outcome);
  void expire();
  /// Ends when no request is in progress.
  void drain();
  /// Answers 503 to any input, and ends.
  void reject_overloaded();
  /// Answers a client that uses plain HTTP on a TLS port with an error, and ends.
  void reject_plain_http();
  /// The connection is closed: the rest of the answer will not be sent.
  void abandon() { receipts_.finish(rpc::delivery_outcome::disconnected); }
  /// Ends without an answer of its own, after the peer had time to read the driver's.
  void start_linger() { enter(state::lingering); }

  /// The text to write, in this order. `cached` is shared with its owner.
  struct output_text {
    std::string head;
    std::string body;
    json::buffer piece;
    shared_bytes cached;
    std::string tail;
    [[nodiscard]] std::array<std::string_view, 5> parts() const noexcept {
      return {head, body, piece.view(), cached ? std::string_view(*cached) : std::string_view(), tail};
    }
    [[nodiscard]] std::size_t message_size() const noexcept {
      return body.size() + piece.size() + (cached ? cached->size() : 0) + tail.size();
    }
    [[nodiscard]] std::size_t size() const noexcept { return head.size() + message_size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  };
  [[nodiscard]] const output_text& output() const noexcept { return output_; }
  [[nodiscard]] bool wants_input() const noexcept;
  [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }
  /// Nothing more will be sent: close the sending side.
  [[nodiscard]] bool has_sent_all() const noexcept { return state_ == state::lingering; }
  [[nodiscard]] bool is_closed() const noexcept { return state_ == state::closed; }
  /// Maximum size of a message. Bytes.
  [[nodiscard]] std::size_t message_limit() const noexcept { return limits_->max_body_bytes; }
  /// Where the connection was accepted.
  [[nodiscard]] const site& listening_site() const noexcept { return *site_; }
  /// The route of the request in progress; null if there is none, or if its answer has become an event stream.
  [[nodiscard]] const route* current_route() const noexcept { return route_.get(); }
  /// Its header. Precondition: `current_route()` is not null.
  [[nodiscard]] const request_head& head() const noexcept { return parser_.head(); }
  /// How long authentication and other calls for a request may take.
  [[nodiscard]] std::chrono::milliseconds call_timeout() const noexcept { return limits_->pull_timeout; }
  /// How long the peer may accept no byte.
  [[nodiscard]] std::chrono::milliseconds stall_timeout() const noexcept { return limits_->stall_timeout; }
  /// Ended in the middle of an answer, which the peer must not take for complete.
  [[nodiscard]] bool was_truncated() const noexcept { return is_truncated_; }

 private:
  enum class state {
    idle,            // between two requests
    reading_head,    // part of a header has arrived
    authenticating,  // the caller is being authenticated
    reading_body,    // the body is arriving
    handling,        // a session handles the message
    sending,         // a whole answer, or a piece of one, is being sent
    streaming,       // an event stream waits for its next message
    pulling,         // a thread pool reads the next piece
    lingering,       // all is sent; input is discarded until the peer closes
    closed,
  };

  void enter(state next);
  /// Sets the text after the header, and the deadline for sending it.
  void set_body(std::string text);
  void set_sending_deadline();
  void set_deadline(std::chrono::milliseconds from_now) { deadline_ = executor::message_batch::now() + from_now; }
  std::size_t advance(std::string_view bytes);
  void advance_input();
  void accept_head(std::size_t following_bytes);
  void proceed(std::size_t following_bytes);
  void await_body();
  void release_body();
  void reject_malformed();
  void dispatch_message();
  void dispatch_oversized();
  void open_stream();
  void await_message();
  void release_request();
  void end_stream();
  void end_session();
  void next_request();
  void send_plain(plain_response response);
  void send_rejection(plain_response response);
  void send_head(int status, std::string_view type, bool is_streamed, std::uint64_t length, std::string_view fields,
                 std::string_view cache_control = "no-store");
  void send_answer(rpc::outgoing_response response, std::string_view fields);
  void open_events(const portion& first, std::string_view fields);
  void send_event(portion part, bool is_last);
  void send_text(std::string text, bool is_last);
  void pull_next();
  void send_cached();
  void send_piece(bool is_last);
  void fail_stream(const failure& error);
  void truncate();

  /// Progress of sending a part of the output that is shared with its owner, such as the read cache.
  struct cached_progress {
    std::size_t preceding_bytes = 0;  ///< Bytes of the output before it.
    std::size_t remaining_bytes = 0;
    std::shared_ptr<rpc::receipt> receipt{};
    /// The peer accepted so many bytes of the output.
    void consume(std::size_t bytes) noexcept;
  };

  http1_handler& host_;
  const std::shared_ptr<const limits> limits_;
  std::shared_ptr<const site> site_;
  request_parser parser_;
  byte_share body_share_;  // for the parser's body
  std::string input_;      // received but not parsed yet
  output_text output_;
  cached_progress cached_progress_;
  byte_share output_share_;  // for the output's body
  state state_ = state::idle;
  clock::time_point deadline_;
  clock::time_point body_deadline_;
  std::unique_ptr<route> route_;           // of the request in progress, until its answer has become an event stream
  std::unique_ptr<route> previous_route_;  // of the previous request, in case its header is repeated
  request_id request_id_ = 0;
  std::shared_ptr<outgoing_body> stream_;
  rpc::receipts receipts_;  // of the message that is being sent
  std::size_t discarded_bytes_ = 0;
  std::size_t accepted_bytes_ = 0;  // bytes accepted since the deadline was set
  bool is_in_request_ = false;      // the parser has a complete header
  bool is_body_pending_ = false;    // the body of this request is unread
  bool closes_ = false;             // after the current answer
  bool is_oversized_ = false;
  bool is_http_1_0_ = false;  // of the peer, by this request
  bool is_endless_ = false;   // the answer is a stream without end
  bool is_head_sent_ = false;
  bool is_events_ = false;    // the answer is an event stream
  bool ends_events_ = false;  // with the current event
  bool is_last_piece_ = true;
  bool is_draining_ = false;
  bool is_truncated_ = false;
};

}  // namespace hondana::transport::http_server
