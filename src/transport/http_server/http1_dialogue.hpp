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
struct outgoing {
  rpc::body rest;
  json::buffer piece;
  int status = 200;          // of an answer whose header is sent with the first piece
  std::string fields;        // additional lines of that header
  bool is_measured = false;  // the header has a Content-Length
};

/// The functions that a dialogue calls on its connection. They must not call back before they return.
class dialogue_host {
 public:
  /// Identifies one request of the connection. Results for other requests are late and dropped.
  using ticket = std::uint64_t;

  dialogue_host() = default;
  dialogue_host(const dialogue_host&) = delete;
  dialogue_host& operator=(const dialogue_host&) = delete;
  virtual ~dialogue_host() = default;

  /// Success: the request may continue. Otherwise: the answer to send.
  using identified = tl::expected<void, plain_answer>;
  /// Authenticates the caller by a header and its verdict; both live until the result. Empty: it takes a while, and
  /// `dialogue::identified` follows.
  [[nodiscard]] virtual std::optional<identified> identify(const request_head& head, const verdict& about, ticket of) = 0;
  /// Handles a message; `dialogue::take` follows. `message` is valid until this returns.
  virtual void receive(std::string_view message, const rpc::http_headers& headers, ticket of) = 0;
  /// Answers a message that exceeds the limit; `dialogue::take` follows.
  virtual void refuse_oversized(const rpc::http_headers& headers, ticket of) = 0;
  /// Opens the stream of a session; `dialogue::take` follows. Otherwise returns the error.
  [[nodiscard]] virtual std::optional<rpc::delivery> open_stream(const rpc::http_headers& headers, ticket of) = 0;
  /// Opens a session whose messages are all sent in the answer to this request; `dialogue::take` follows. Otherwise returns the
  /// error.
  [[nodiscard]] virtual std::optional<rpc::delivery> open_pair(ticket of) = 0;
  /// Passes a message to such a session, and returns the answer to the POST.
  [[nodiscard]] virtual rpc::delivery receive_paired(std::string_view message, const rpc::http_headers& headers) = 0;
  /// Ends a session, and returns the answer.
  [[nodiscard]] virtual rpc::delivery leave(const rpc::http_headers& headers) = 0;
  /// The peer is gone: cancels the request in progress.
  virtual void forget() = 0;
  /// Calls `what->rest.pull(what->piece)` on `next_lane()`; `dialogue::pulled` follows. Errors: those of
  /// `executor::lane::submit`.
  [[nodiscard]] virtual result<void> pull(std::shared_ptr<outgoing> what, ticket of) = 0;
  /// An empty buffer for a piece, preferably a recently used one. Default: a new one.
  [[nodiscard]] virtual json::buffer spare() { return {}; }
  /// Returns such a buffer for reuse.
  virtual void take_back(json::buffer used) { static_cast<void>(used); }
  /// For `verdict::kind::health`, `ready` or `metrics`.
  [[nodiscard]] virtual plain_answer report(verdict::kind which) = 0;
  /// For `verdict::kind::metadata` about `path`.
  [[nodiscard]] virtual plain_answer describe(const request_head& head, std::string_view path) = 0;
  /// For `verdict::kind::notice` to `name`. Default: no source has that name.
  [[nodiscard]] virtual plain_answer notify(const request_head& head, std::string_view name);
  /// A request was rejected, with this status, before a session received it.
  virtual void refused(int status) = 0;
  /// A request was rejected because of its Host or Origin; `why` is for the log. Default: nothing.
  virtual void note_stranger(const request_head& head, std::string_view why) {
    static_cast<void>(head);
    static_cast<void>(why);
  }
  virtual void log(std::string_view line) = 0;
};

/// Parses requests and writes answers, one after another, in order. Performs no I/O. Threads: one at a time.
///
/// The driver writes `output()` and then calls `drained()`; reads while `wants_input()`; calls `expire()` at `deadline()`; and
/// closes the connection when `has_ended()`.
class dialogue {
 public:
  using clock = monotonic_clock;
  using ticket = dialogue_host::ticket;

  /// `at`: where the connection was accepted. `bodies` (budget of unfinished messages) and `unsent` (budget of answers) are
  /// shared by all connections of the server.
  dialogue(dialogue_host& host, std::shared_ptr<const limits> with, std::shared_ptr<const site> at,
           std::shared_ptr<byte_budget> bodies, std::shared_ptr<byte_budget> unsent);

  void receive(std::string_view bytes);
  /// The result of the authentication. Late results are dropped.
  void identified(ticket of, dialogue_host::identified how);
  /// Whether part of a request has been read, but no part of its answer is prepared.
  [[nodiscard]] bool owes_answer() const noexcept {
    return now_ == state::heading || now_ == state::identifying || now_ == state::body || now_ == state::working;
  }
  [[nodiscard]] bool is_identifying(ticket of) const noexcept { return of == ticket_ && now_ == state::identifying; }
  /// The peer sends no more. This counts as a disconnect, even if the peer has closed only its sending side.
  void end_of_input();
  /// The peer accepted so many bytes of `output()`.
  void progressed(std::size_t bytes);
  /// The peer accepted all of `output()`.
  void drained();
  /// Whether the next portion of the answer in progress can be taken.
  [[nodiscard]] bool wants_messages() const noexcept { return now_ == state::working || now_ == state::streaming; }
  /// Sends one portion of the answer; call it only if `wants_messages()`. `fields`: additional header lines of the answer, each
  /// ending with CR LF.
  void take(ticket of, portion what, std::string_view fields = {});
  /// Whether all events so far have been sent, so that the driver may send more itself.
  [[nodiscard]] bool is_resting() const noexcept { return now_ == state::streaming && !draining_; }
  /// Whether such events need chunk framing.
  [[nodiscard]] bool is_chunked() const noexcept { return !is_http_1_0_; }
  /// The driver has sent events itself, except `rest`.
  void sent_events(std::string_view rest);
  /// Sends a whole answer.
  void answered(ticket of, rpc::delivery what);
  void pulled(ticket of, const result<bool>& more);
  void expire();
  /// Ends when no request is in progress.
  void drain();
  /// Answers 503 to any input, and ends.
  void turn_away();
  /// Tells a client that uses plain HTTP on a TLS port, and ends.
  void refuse_plain_http();
  /// The connection is closed: the rest of the answer will not be sent.
  void abandon() { leaving_.settle(rpc::departure::gone); }
  /// Ends without an answer of its own, after the peer had time to read the driver's.
  void hang_up() { enter(state::lingering); }

  /// The text to write, in this order. `kept` is shared with its owner.
  struct text {
    std::string head;
    std::string body;
    json::buffer piece;
    shared_bytes kept;
    std::string tail;
    [[nodiscard]] std::array<std::string_view, 5> parts() const noexcept {
      return {head, body, piece.view(), kept ? std::string_view(*kept) : std::string_view(), tail};
    }
    [[nodiscard]] std::size_t size_of_message() const noexcept {
      return body.size() + piece.size() + (kept ? kept->size() : 0) + tail.size();
    }
    [[nodiscard]] std::size_t size() const noexcept { return head.size() + size_of_message(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  };
  [[nodiscard]] const text& output() const noexcept { return output_; }
  [[nodiscard]] bool wants_input() const noexcept;
  [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }
  /// Nothing more will be sent: close the sending side.
  [[nodiscard]] bool has_said_all() const noexcept { return now_ == state::lingering; }
  [[nodiscard]] bool has_ended() const noexcept { return now_ == state::ended; }
  /// Maximum size of a message. Bytes.
  [[nodiscard]] std::size_t message_limit() const noexcept { return with_->body_bytes; }
  /// Where the connection was accepted.
  [[nodiscard]] const site& at() const noexcept { return *site_; }
  /// The verdict on the request in progress; null if there is none, or if its answer has become an event stream.
  [[nodiscard]] const verdict* present() const noexcept { return verdict_.get(); }
  /// Its header. Precondition: `present()` is not null.
  [[nodiscard]] const request_head& head() const noexcept { return parser_.head(); }
  /// How long authentication and other calls for a request may take.
  [[nodiscard]] std::chrono::milliseconds patience_for_calls() const noexcept { return with_->pull_time; }
  /// How long the peer may accept no byte.
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return with_->stall; }
  /// Ended in the middle of an answer, which the peer must not take for complete.
  [[nodiscard]] bool was_cut_off() const noexcept { return cut_off_; }

 private:
  enum class state {
    idle,         // between two requests
    heading,      // part of a header has arrived
    identifying,  // the caller is being authenticated
    body,         // the body is arriving
    working,      // a session handles the message
    sending,      // a whole answer, or a piece of one, is being sent
    streaming,    // an event stream waits for its next message
    pulling,      // a thread pool reads the next piece
    lingering,    // all is sent; input is discarded until the peer closes
    ended,
  };

  void enter(state next);
  /// Sets the text after the header, and the deadline for sending it.
  void set_body(std::string what);
  void set_sending_deadline();
  void set_deadline(std::chrono::milliseconds from_now) { deadline_ = executor::round::time() + from_now; }
  std::size_t advance(std::string_view bytes);
  void advance_input();
  void accept_head(std::size_t bytes_behind);
  void proceed(std::size_t bytes_behind);
  void await_body();
  void forget_body();
  void refuse_defect();
  void hand_in();
  void hand_in_oversized();
  void open_stream();
  void await_message();
  void rest();
  void end_stream();
  void leave();
  void next_request();
  void send_plain(plain_answer what);
  void send_refusal(plain_answer what);
  void send_head(int status, std::string_view type, bool is_streamed, std::uint64_t length, std::string_view fields,
                 std::string_view keeping = "no-store");
  void send_answer(rpc::delivery what, std::string_view fields);
  void open_events(const portion& first, std::string_view fields);
  void send_event(portion what, bool is_last);
  void send_text(std::string text, bool is_last);
  void pull_next();
  void send_lent();
  void send_piece(bool is_last);
  void fail_stream(const failure& why);
  void cut_off();

  /// Progress of sending a part of the output that is shared with its owner, such as the read cache.
  struct lending {
    std::size_t before = 0;  ///< Bytes of the output before it.
    std::size_t left = 0;
    std::shared_ptr<rpc::receipt> counted_by{};
    /// The peer accepted so many bytes of the output.
    void moved(std::size_t bytes) noexcept;
  };

  dialogue_host& host_;
  const std::shared_ptr<const limits> with_;
  std::shared_ptr<const site> site_;
  request_parser parser_;
  byte_share held_;    // for the parser's body
  std::string input_;  // received but not parsed yet
  text output_;
  lending lent_to_;
  byte_share waiting_;  // for the output's body
  state now_ = state::idle;
  clock::time_point deadline_;
  clock::time_point body_until_;
  std::unique_ptr<verdict> verdict_;         // on the request in progress, until its answer has become an event stream
  std::unique_ptr<verdict> verdict_before_;  // on the previous request, in case its header is repeated
  ticket ticket_ = 0;
  std::shared_ptr<outgoing> stream_;
  rpc::receipts leaving_;  // of the message that is being sent
  std::size_t discarded_ = 0;
  std::size_t taken_ = 0;      // bytes accepted since the deadline was set
  bool in_request_ = false;    // the parser has a complete header
  bool body_pending_ = false;  // the body of this request is unread
  bool closes_ = false;        // after the current answer
  bool is_oversized_ = false;
  bool is_http_1_0_ = false;  // of the peer, by this request
  bool is_endless_ = false;   // the answer is a stream without end
  bool head_sent_ = false;
  bool is_events_ = false;    // the answer is an event stream
  bool ends_events_ = false;  // with the current event
  bool last_piece_ = true;
  bool draining_ = false;
  bool cut_off_ = false;
};

}  // namespace hondana::transport::http_server
