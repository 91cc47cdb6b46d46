/// One HTTP/1 connection as a state machine: bytes and events in, bytes and requests out.
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

/// A streamed answer: what is still to be pulled, and the piece pulled last. Whoever pulls has it alone meanwhile.
struct outgoing {
  rpc::body rest;
  json::buffer piece;
  int status = 200;          // of an answer whose head is sent with the first piece
  std::string fields;        // further lines of that head
  bool is_measured = false;  // that head has told how long it is
};

/// What a dialogue asks of the connection that drives it. Nothing here may call back before it returns.
class dialogue_host {
 public:
  /// Names one request of the connection; answers to others are late and dropped.
  using ticket = std::uint64_t;

  dialogue_host() = default;
  dialogue_host(const dialogue_host&) = delete;
  dialogue_host& operator=(const dialogue_host&) = delete;
  virtual ~dialogue_host() = default;

  /// Whether a request may go on, or what it is answered instead.
  using identified = tl::expected<void, plain_answer>;
  /// Finds out who asks, from a head and what was decided about it; both live until the answer. Nothing: it takes a while, and
  /// `dialogue::identified` follows.
  [[nodiscard]] virtual std::optional<identified> identify(const request_head& head, const verdict& about, ticket of) = 0;
  /// Starts on a message; `dialogue::take` follows. `message` lives until this returns.
  virtual void receive(std::string_view message, const rpc::http_headers& headers, ticket of) = 0;
  /// The same for a message over the cap.
  virtual void refuse_oversized(const rpc::http_headers& headers, ticket of) = 0;
  /// Opens the stream of a session; `dialogue::take` follows. Or says why not.
  [[nodiscard]] virtual std::optional<rpc::delivery> open_stream(const rpc::http_headers& headers, ticket of) = 0;
  /// Opens a session whose every message goes out on the answer to this request; `dialogue::take` follows. Or says why not.
  [[nodiscard]] virtual std::optional<rpc::delivery> open_pair(ticket of) = 0;
  /// Hands a message to such a session, and says how that went.
  [[nodiscard]] virtual rpc::delivery receive_paired(std::string_view message, const rpc::http_headers& headers) = 0;
  /// Ends a session, and says how that went.
  [[nodiscard]] virtual rpc::delivery leave(const rpc::http_headers& headers) = 0;
  /// The request under way has lost its peer.
  virtual void forget() = 0;
  /// Calls `what->rest.pull(what->piece)` on `next_lane()`; `dialogue::pulled` follows. Errors: as `executor::lane::submit`.
  [[nodiscard]] virtual result<void> pull(std::shared_ptr<outgoing> what, ticket of) = 0;
  /// An empty buffer for a piece, best one that was used a moment ago. Default: a new one.
  [[nodiscard]] virtual json::buffer spare() { return {}; }
  /// Takes such a buffer back, or lets it go.
  virtual void take_back(json::buffer used) { static_cast<void>(used); }
  /// `verdict::kind::health` or `ready`.
  [[nodiscard]] virtual plain_answer report(verdict::kind which) = 0;
  /// `verdict::kind::metadata` about `path`.
  [[nodiscard]] virtual plain_answer describe(const request_head& head, std::string_view path) = 0;
  /// `verdict::kind::notice` to `name`. Default: there is nobody of that name.
  [[nodiscard]] virtual plain_answer notify(const request_head& head, std::string_view name);
  /// A request was refused, with this status, before a session had it.
  virtual void refused(int status) = 0;
  /// A request was refused whoever it is that asks; `why` is for the log. Default: nothing.
  virtual void note_stranger(const request_head& head, std::string_view why) {
    static_cast<void>(head);
    static_cast<void>(why);
  }
  virtual void log(std::string_view line) = 0;
};

/// Requests are answered one after the other, in order. Sans-IO. Threads: one at a time.
///
/// The driver writes `output()` and says `drained()`; reads while `wants_input()`; calls `expire()` at `deadline()`; and
/// closes when `has_ended()`.
class dialogue {
 public:
  using clock = monotonic_clock;
  using ticket = dialogue_host::ticket;

  /// `at`: where the connection arrived. `bodies` (of unfinished messages) and `unsent` (of answers) are shared with
  /// the other connections of the server.
  dialogue(dialogue_host& host, std::shared_ptr<const limits> with, std::shared_ptr<const site> at,
           std::shared_ptr<byte_budget> bodies, std::shared_ptr<byte_budget> unsent);

  void receive(std::string_view bytes);
  /// It is known who asks, or why that one is refused. Late words are dropped.
  void identified(ticket of, dialogue_host::identified how);
  /// Whether part of a request has been read and nothing of its answer has been prepared.
  [[nodiscard]] bool owes_answer() const noexcept {
    return now_ == state::heading || now_ == state::identifying || now_ == state::body || now_ == state::working;
  }
  [[nodiscard]] bool is_identifying(ticket of) const noexcept { return of == ticket_ && now_ == state::identifying; }
  /// The peer sends no more. Taken as the peer having gone, also when only its sending side was closed.
  void end_of_input();
  /// So many bytes of `output()` were taken by the peer.
  void progressed(std::size_t bytes);
  /// All of it was.
  void drained();
  /// Whether there is room for the next portion of what the request under way gets.
  [[nodiscard]] bool wants_messages() const noexcept { return now_ == state::working || now_ == state::streaming; }
  /// One portion of it; only while it is wanted. `fields`: further header lines of the answer, each ending with CR LF.
  void take(ticket of, portion what, std::string_view fields = {});
  /// Whether all that was to be sent of a stream of events has been, so that the driver may send more itself.
  [[nodiscard]] bool is_resting() const noexcept { return now_ == state::streaming && !draining_; }
  /// Whether what is sent then needs the framing of chunks.
  [[nodiscard]] bool is_chunked() const noexcept { return !is_http_1_0_; }
  /// The driver has sent events itself, all but `rest` of them.
  void sent_events(std::string_view rest);
  /// The whole of it.
  void answered(ticket of, rpc::delivery what);
  void pulled(ticket of, const result<bool>& more);
  void expire();
  /// Ends as soon as no request is under way.
  void drain();
  /// Answers 503 to whatever comes, and ends.
  void turn_away();
  /// Tells somebody who took a port of TLS for one of plain HTTP, and ends.
  void refuse_plain_http();
  /// The connection is closed: what of an answer has not been taken never will be.
  void abandon() { leaving_.settle(rpc::departure::gone); }
  /// Ends without a word of its own, when the peer has had time to read the driver's.
  void hang_up() { enter(state::lingering); }

  /// What is to be written, one behind the other. What is `kept` is lent and shared.
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
  /// Nothing more will be sent: the sending side is to be closed.
  [[nodiscard]] bool has_said_all() const noexcept { return now_ == state::lingering; }
  [[nodiscard]] bool has_ended() const noexcept { return now_ == state::ended; }
  /// Bytes a message may have.
  [[nodiscard]] std::size_t message_limit() const noexcept { return with_->body_bytes; }
  /// Where the connection arrived.
  [[nodiscard]] const site& at() const noexcept { return *site_; }
  /// What was decided about the request under way; null when there is none, or its answer has become a stream of events.
  [[nodiscard]] const verdict* present() const noexcept { return verdict_.get(); }
  /// Its head; only while there is a `present`.
  [[nodiscard]] const request_head& head() const noexcept { return parser_.head(); }
  /// How long others may take for what a request needs.
  [[nodiscard]] std::chrono::milliseconds patience_for_calls() const noexcept { return with_->pull_time; }
  /// How long the peer may take no byte.
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return with_->stall; }
  /// Ended in the middle of an answer, which the peer must not take for complete.
  [[nodiscard]] bool was_cut_off() const noexcept { return cut_off_; }

 private:
  enum class state {
    idle,         // between two requests
    heading,      // a request's head has begun
    identifying,  // and has ended; it is found out who asks
    body,         // and may go on
    working,      // a session has the message
    sending,      // a whole answer, or a piece of one
    streaming,    // an event stream waits for its next message
    pulling,      // a lane fetches the next piece
    lingering,    // all is said; input is thrown away until the peer closes
    ended,
  };

  void enter(state next);
  /// Sets what is sent behind the head, and how long the peer may take for it.
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

  /// What is kept elsewhere and being sent, as far as it is not.
  struct lending {
    std::size_t before = 0;  ///< Bytes of the output in front of it.
    std::size_t left = 0;
    std::shared_ptr<rpc::receipt> counted_by{};
    /// So many bytes of the output were taken by the peer.
    void moved(std::size_t bytes) noexcept;
  };

  dialogue_host& host_;
  const std::shared_ptr<const limits> with_;
  std::shared_ptr<const site> site_;
  request_parser parser_;
  byte_share held_;    // for the parser's body
  std::string input_;  // arrived and not used yet
  text output_;
  lending lent_to_;
  byte_share waiting_;  // for the output's body
  state now_ = state::idle;
  clock::time_point deadline_;
  clock::time_point body_until_;
  std::unique_ptr<verdict> verdict_;         // on the request under way, until its answer has become a stream of events
  std::unique_ptr<verdict> verdict_before_;  // on the one before, should its head come again
  ticket ticket_ = 0;
  std::shared_ptr<outgoing> stream_;
  rpc::receipts leaving_;  // of the message that is being sent
  std::size_t discarded_ = 0;
  std::size_t taken_ = 0;      // since the deadline for taking was set
  bool in_request_ = false;    // the parser knows a head
  bool body_pending_ = false;  // of this request; unread
  bool closes_ = false;        // after the present answer
  bool is_oversized_ = false;
  bool is_http_1_0_ = false;  // the peer, by this request
  bool is_endless_ = false;   // the answer is a stream that has no end of its own
  bool head_sent_ = false;
  bool is_events_ = false;    // the answer is an event stream
  bool ends_events_ = false;  // with the present event
  bool last_piece_ = true;
  bool draining_ = false;
  bool cut_off_ = false;
};

}  // namespace hondana::transport::http_server
