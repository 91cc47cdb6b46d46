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

/// An answer that is sent in pieces. Threads: one at a time.
struct outgoing_body {
  rpc::body content;        // the part that is not read yet
  json::buffer piece;       // the piece that was read last
  int status = 200;         // of an answer whose header is sent with the first piece
  std::string fields;       // additional lines of that header
  bool has_length = false;  // the header has a Content-Length
};

/// The functions that `http1_protocol` calls on its driver, the connection. They must not call `http1_protocol`, except its
/// const functions.
class http1_handler {
 public:
  /// Identifies one request of the connection, so that late results are recognized and dropped.
  using request_id = std::uint64_t;

  http1_handler() = default;
  http1_handler(const http1_handler&) = delete;
  http1_handler& operator=(const http1_handler&) = delete;
  virtual ~http1_handler() = default;

  // "X must follow" means: the driver must call the function X of `http1_protocol` later.

  /// Success: the request may continue. Otherwise: the answer to send.
  using auth_outcome = tl::expected<void, plain_response>;
  /// Authenticates the caller of a request. `head` and `route` live until the result. Empty: the result is not known yet, and
  /// `on_authenticated` must follow.
  [[nodiscard]] virtual std::optional<auth_outcome> authenticate(const request_head& head, const route& route,
                                                                 request_id id) = 0;
  /// Handles a message; `send_portion` must follow. `message` is valid until this returns.
  virtual void receive(std::string_view message, const rpc::http_headers& headers, request_id id) = 0;
  /// Answers a message that exceeds the limit; `send_portion` must follow.
  virtual void reject_oversized(const rpc::http_headers& headers, request_id id) = 0;
  /// Opens the stream of a session; `send_portion` must follow. If that fails, returns the answer instead.
  [[nodiscard]] virtual std::optional<rpc::outgoing_response> open_stream(const rpc::http_headers& headers, request_id id) = 0;
  /// Opens an HTTP+SSE session, whose messages are all sent in the answer to this request; `send_portion` must follow. If that
  /// fails, returns the answer instead.
  [[nodiscard]] virtual std::optional<rpc::outgoing_response> open_sse(request_id id) = 0;
  /// Passes a message to an HTTP+SSE session, and returns the answer to the POST.
  [[nodiscard]] virtual rpc::outgoing_response receive_sse_message(std::string_view message,
                                                                   const rpc::http_headers& headers) = 0;
  /// Ends a session, and returns the answer.
  [[nodiscard]] virtual rpc::outgoing_response end_session(const rpc::http_headers& headers) = 0;
  /// Cancels the request in progress, because nobody receives the answer any more.
  virtual void cancel() = 0;
  /// Calls `body->content.pull(body->piece)` on `body->content.next_executor()`; `on_pulled` must follow. Errors: those of
  /// `executor::executor::submit`.
  [[nodiscard]] virtual result<void> pull(std::shared_ptr<outgoing_body> body, request_id id) = 0;
  /// Returns an empty buffer for a piece, preferably a recently used one. Default: a new one.
  [[nodiscard]] virtual json::buffer acquire_buffer() { return {}; }
  /// Takes back a buffer of `acquire_buffer`.
  virtual void recycle_buffer(json::buffer buffer) { static_cast<void>(buffer); }
  /// Returns the answer for `route::kind::health`, `ready` or `metrics`.
  [[nodiscard]] virtual plain_response report(route::kind kind) = 0;
  /// Returns the answer for `route::kind::metadata`. `path`: see `route::subject`.
  [[nodiscard]] virtual plain_response describe_resource(const request_head& head, std::string_view path) = 0;
  /// Handles `route::kind::webhook`, and returns the answer. `name`: see `route::subject`. Default: 404.
  [[nodiscard]] virtual plain_response receive_webhook(const request_head& head, std::string_view name);
  /// Called when a request is rejected, with this status, before a session receives it.
  virtual void on_rejected(int status) = 0;
  /// Logs that a request was rejected because of its Host or Origin. Default: nothing.
  virtual void log_foreign_request(const request_head& head, std::string_view reason) {
    static_cast<void>(head);
    static_cast<void>(reason);
  }
  virtual void log(std::string_view line) = 0;
};

/// Parses requests and makes answers, one after another, in order. Performs no I/O. Threads: one at a time.
///
/// Its driver must write `output()`, with `on_written()` after each write and `on_drained()` at the end; read while
/// `wants_input()`, and pass the bytes to `receive()`; call `expire()` at `deadline()`; and close the connection when
/// `is_closed()`.
class http1_protocol {
 public:
  using clock = monotonic_clock;
  using request_id = http1_handler::request_id;

  /// `host` must outlive this object. `site`: what the listening socket serves. All connections of the server share
  /// `body_budget` (for unfinished messages) and `unsent_budget` (for answers).
  http1_protocol(http1_handler& host, std::shared_ptr<const limits> limits, std::shared_ptr<const site> site,
                 std::shared_ptr<byte_budget> body_budget, std::shared_ptr<byte_budget> unsent_budget);

  /// Handles received bytes, and stores those of later requests.
  void receive(std::string_view bytes);
  /// Continues a request after `http1_handler::authenticate`. Drops late results.
  void on_authenticated(request_id id, http1_handler::auth_outcome outcome);
  /// Whether part of a request has been read, but no part of its answer is prepared.
  [[nodiscard]] bool owes_response() const noexcept {
    return state_ == state::reading_head || state_ == state::authenticating || state_ == state::reading_body ||
           state_ == state::handling;
  }
  /// Whether this request waits for `on_authenticated`.
  [[nodiscard]] bool is_authenticating(request_id id) const noexcept {
    return id == request_id_ && state_ == state::authenticating;
  }
  /// Call this when the peer sends no more. This counts as a disconnect, even if the peer has closed only its sending side:
  /// cancels a request that is being handled. Only an answer that is already being sent is completed.
  void end_of_input();
  /// Call this when so many bytes of `output()` were written.
  void on_written(std::size_t bytes);
  /// Call this when all of `output()` was written. May make the next output.
  void on_drained();
  /// Whether `send_portion` may be called, because an answer is in progress and nothing is being sent.
  [[nodiscard]] bool wants_portion() const noexcept { return state_ == state::handling || state_ == state::streaming; }
  /// Sends one portion of the answer. Does nothing unless `wants_portion()` and `id` is the current request. `fields`:
  /// additional header lines of the answer, each ending with CR LF.
  void send_portion(request_id id, portion part, std::string_view fields = {});
  /// Whether the answer is an event stream and nothing is being sent, so that the driver may write events to the socket itself.
  [[nodiscard]] bool is_idle_stream() const noexcept { return state_ == state::streaming && !is_draining_; }
  /// Whether events that the driver writes itself need chunk framing.
  [[nodiscard]] bool is_chunked() const noexcept { return !is_http_1_0_; }
  /// Call this when the driver has written events itself. `unsent`: the rest, which goes to `output()`.
  void on_events_sent(std::string_view unsent);
  /// Sends a whole answer; see `send_portion`.
  void send_response(request_id id, rpc::outgoing_response response);
  /// Continues an answer after `http1_handler::pull`. `outcome`: see `rpc::body::pull`. Drops late results.
  void on_pulled(request_id id, const result<bool>& outcome);
  /// Handles the deadline: rejects the request, cuts off the answer, sends a keep-alive comment, or ends the connection.
  void expire();
  /// Ends the connection when no request is in progress, and ends streams that would never end.
  void drain();
  /// Sends a 503 without waiting for a request, and ends the connection.
  void reject_overloaded();
  /// Answers a client that uses plain HTTP on a TLS port with an error, and ends the connection.
  void reject_plain_http();
  /// Call this when the connection is closed, so that the rest of the answer is not sent.
  void abandon() { receipts_.finish(rpc::delivery_outcome::disconnected); }
  /// Ends the connection without an answer, after the peer had time to read what the driver sent, such as a TLS alert.
  void start_linger() { enter(state::lingering); }

  /// The text to write, in the order of its members. `cached` is shared with its owner, such as the read cache.
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
  /// Whether the driver should read more input now.
  [[nodiscard]] bool wants_input() const noexcept;
  /// When to call `expire()`.
  [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }
  /// Whether nothing more will be sent, so that the driver must close the sending side.
  [[nodiscard]] bool has_sent_all() const noexcept { return state_ == state::lingering; }
  [[nodiscard]] bool is_closed() const noexcept { return state_ == state::closed; }
  /// Maximum size of a message. Bytes.
  [[nodiscard]] std::size_t message_limit() const noexcept { return limits_->max_body_bytes; }
  /// What the listening socket serves.
  [[nodiscard]] const site& listening_site() const noexcept { return *site_; }
  /// The route of the request in progress; null if there is none, or if its answer has become an event stream.
  [[nodiscard]] const route* current_route() const noexcept { return route_.get(); }
  /// The header of the request in progress. `current_route()` must not be null.
  [[nodiscard]] const request_head& head() const noexcept { return parser_.head(); }
  /// How long the authentication of a request may take.
  [[nodiscard]] std::chrono::milliseconds call_timeout() const noexcept { return limits_->pull_timeout; }
  /// See `limits::stall_timeout`.
  [[nodiscard]] std::chrono::milliseconds stall_timeout() const noexcept { return limits_->stall_timeout; }
  /// Whether the connection ended in the middle of an answer, which the peer must not take for complete.
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

  /// Counts the written bytes of `output_text::cached` in a receipt.
  struct cached_progress {
    std::size_t preceding_bytes = 0;          ///< Unwritten bytes of the output before it.
    std::size_t remaining_bytes = 0;          ///< Its unwritten bytes.
    std::shared_ptr<rpc::receipt> receipt{};  ///< Null: nothing is counted.
    /// Call this when so many bytes of the output were written.
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
  rpc::receipts receipts_;           // of the message that is being sent
  std::size_t discarded_bytes_ = 0;  // input while lingering
  std::size_t accepted_bytes_ = 0;   // bytes accepted since the deadline was set
  bool is_in_request_ = false;       // the parser has a complete header
  bool is_body_pending_ = false;     // the body of this request is unread
  bool closes_ = false;              // after the current answer
  bool is_oversized_ = false;        // the message of this request exceeds the limit
  bool is_http_1_0_ = false;         // the request is of HTTP/1.0
  bool is_endless_ = false;          // the answer is a stream without end
  bool is_head_sent_ = false;
  bool is_events_ = false;     // the answer is an event stream
  bool ends_events_ = false;   // the current event is the last one
  bool is_last_piece_ = true;  // the output is the end of the answer
  bool is_draining_ = false;
  bool is_truncated_ = false;
};

}  // namespace hondana::transport::http_server
