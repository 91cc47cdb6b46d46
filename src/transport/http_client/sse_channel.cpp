/// The channel for HTTP+SSE.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/message_reader.hpp"
#include "transport/http_client/channel_state.hpp"
#include "transport/http_client/event_stream.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// POSTs a message and reports whether the server accepted it. Destruction ends it without a callback. Threads: the loop's.
/// Spec: 2024-11-05 basic/transports#http-with-sse.
class message_post final : public response_listener {
 public:
  /// Empty: the server accepted the message. It is the last callback and may destroy this object.
  using hook = std::function<void(std::optional<channel::termination>)>;

  message_post(transfer_loop& loop, channel_state& state, std::string url, channel::outgoing_message message, hook callback);
  ~message_post() override;

  void begin();

 private:
  bool on_head(const response_head& head) override;
  bool on_body(std::string_view bytes) override;
  void on_finished(result<void> outcome) override;
  void release_queued_bytes() { state_.queued_bytes -= std::exchange(queued_bytes_, 0); }

  channel_state& state_;
  std::string url_;
  channel::outgoing_message message_;
  hook callback_;
  std::size_t queued_bytes_;
  response_head head_{};
  std::string body_;
  transfer transfer_;
};

message_post::message_post(transfer_loop& loop, channel_state& state, std::string url, channel::outgoing_message message,
                           hook callback)
    : state_(state),
      url_(std::move(url)),
      message_(std::move(message)),
      callback_(std::move(callback)),
      queued_bytes_(message_.text.size()),
      transfer_(loop, state.target, state.tokens, *this) {}

message_post::~message_post() { release_queued_bytes(); }

void message_post::begin() {
  http_request request;
  request.method = http_method::post;
  request.url = url_;
  request.header_lines = state_.session_lines();
  request.header_lines.emplace_back("Content-Type: application/json");
  request.body = std::move(message_.text);
  transfer_.begin(std::move(request));
}

bool message_post::on_head(const response_head& head) {
  head_ = head;
  release_queued_bytes();
  // A stream as the answer to a POST would stay open for nothing.
  return head.media_type() != "text/event-stream";
}

bool message_post::on_body(std::string_view bytes) {
  body_ += bytes.substr(0, max_error_body_bytes - body_.size());
  return body_.size() < max_error_body_bytes;
}

void message_post::on_finished(result<void> outcome) {
  std::optional<channel::termination> termination;
  if (head_.status != 0 && !head_.is_success()) {
    termination = make_termination(head_, std::move(body_), url_, false);
  } else if (!outcome && head_.status == 0) {
    termination.emplace();
    termination->reason = std::move(outcome.error());
  }
  const auto callback = std::move(callback_);
  callback(std::move(termination));
}

namespace {

using hondana::channel::call_id;
using hondana::channel::content_sink;
using hondana::channel::outgoing_message;

/// The call with this id; 0 if the id is not one of ours.
call_id call_of(const std::optional<std::string>& id) { return id ? hondana::channel::parse_call_id(*id).value_or(0) : 0; }

class http_sse final : public channel::channel, public response_listener, public message_listener {
 public:
  http_sse(std::unique_ptr<transfer_loop> loop, checked_target target, hondana::channel::channel_listener& listener,
           const hondana::channel::limits& limits, std::function<void(std::string_view)> log)
      : loop_(std::move(loop)), state_(*loop_, std::move(target), listener, limits, std::move(log)) {
    create_parts();
  }
  ~http_sse() override { close(std::chrono::milliseconds(0)); }

  void send(outgoing_message message) override {
    enqueue(*loop_, state_, std::move(message), [this](outgoing_message queued) { start(std::move(queued)); });
  }

  void abandon(call_id call) override {
    loop_->post([this, call] {
      scheduler_->drop(call);
      if (posts_.erase(call) > 0) scheduler_->mark_finished(call);
      drop_queued(call);
      erase_call(call);
    });
  }

  void end_connection(std::string reason) override {
    loop_->post([this, detail = std::move(reason)] {
      if (!stream_) return;
      reset_connection();
      state_.on_connection_lost({errc::source_unavailable, display_url(state_.target.url) + ' ' + detail, {}, nullptr});
    });
  }

  void complete_handshake(hondana::channel::header_fields fields, bool) override {
    loop_->post([this, fields = std::move(fields)] { state_.session.fields = fields; });
  }

  void discard_session() override {
    loop_->post([this] { state_.session = {}; });
  }

  void close(std::chrono::milliseconds timeout) override {
    if (state_.is_closed.exchange(true)) return;
    if (timeout.count() > 0) {
      std::promise<void> closed;
      auto closed_future = closed.get_future();
      loop_->post([this, &closed] {
        state_.tokens.close();
        scheduler_->clear();
        std::erase_if(posts_, [](const auto& entry) { return entry.first < send_scheduler::first_without_call; });
        closed_promise_ = &closed;
        close_if_idle();
      });
      closed_future.wait_for(timeout);
      // Stop the thread before `closed` is destroyed, since it may still set the promise.
      loop_->stop();
    }
    loop_->stop();
    state_.tokens.close();
  }

  [[nodiscard]] std::string_view kind() const noexcept override { return "http+sse"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void create_parts() {
    scheduler_ = std::make_unique<send_scheduler>(
        *loop_, state_, [this](send_scheduler::send_id id, outgoing_message message) { post(id, std::move(message)); });
    events_ = std::make_unique<message_decoder>(
        *this,
        hondana::channel::routing_reader(
            state_.limits, [this](const std::string& id) { return sink_of(id); }, [this] { return fallback_sink(); }),
        message_decoder::error_timing::at_end);
  }

  void start(outgoing_message message) {
    if (!stream_) open();
    if (message.call != 0) unanswered_.insert(message.call);
    if (message.content) sinks_[message.call] = message.content;
    if (post_url_.empty() || !queued_.empty()) {
      queued_.push_back(std::move(message));
    } else {
      scheduler_->add(std::move(message));
    }
  }

  void open() {
    head_ = {};
    error_body_.clear();
    error_.reset();
    create_parts();
    http_request request;
    request.url = state_.target.url;
    request.header_lines = {"Accept: text/event-stream"};
    stream_ = std::make_unique<transfer>(*loop_, state_.target, state_.tokens, *this);
    stream_->begin(std::move(request));
  }

  void post(send_scheduler::send_id id, outgoing_message message) {
    auto created = std::make_unique<message_post>(*loop_, state_, post_url_, std::move(message),
                                                  [this, id](std::optional<hondana::channel::termination> termination) {
                                                    posts_.erase(id);
                                                    scheduler_->mark_finished(id);
                                                    if (termination) report_rejected(id, std::move(*termination));
                                                    close_if_idle();
                                                  });
    auto& started = *created;
    posts_[id] = std::move(created);
    started.begin();
  }

  void report_rejected(send_scheduler::send_id id, hondana::channel::termination termination) {
    if (id >= send_scheduler::first_without_call)
      return state_.log("a message was rejected: " + termination.reason.public_text);
    erase_call(id);
    state_.on_call_finished(id, std::move(termination));
  }

  void erase_call(call_id call) {
    sinks_.erase(call);
    unanswered_.erase(call);
  }

  void drop_queued(call_id call) {
    const auto match = std::find_if(queued_.begin(), queued_.end(), [&](const auto& message) { return message.call == call; });
    if (match == queued_.end()) return;
    state_.queued_bytes -= match->text.size();
    queued_.erase(match);
  }

  content_sink sink_of(const std::string& id) {
    const auto match = sinks_.find(call_of(id));
    if (match == sinks_.end() || !events_->is_buffering()) return match == sinks_.end() ? content_sink() : match->second;
    // The held content arrives at once, and the sink may take long, so each piece extends the timeout.
    return [this, call = match->first, receiver = match->second](std::size_t item, std::string_view bytes) {
      state_.on_progress(call);
      return receiver(item, bytes);
    };
  }
  /// The sink for a message without an id so far. If no call has a sink, the message is stored in memory; otherwise it is held
  /// back.
  [[nodiscard]] std::optional<content_sink> fallback_sink() const {
    return sinks_.empty() ? std::optional(content_sink()) : std::nullopt;
  }

  // The callbacks of the stream.

  bool on_head(const response_head& head) override {
    head_ = head;
    is_stream_ = head.status == 200 && head.media_type() == "text/event-stream";
    return true;
  }

  bool on_body(std::string_view bytes) override {
    if (!is_stream_) {
      error_body_ += bytes.substr(0, max_error_body_bytes - error_body_.size());
      return error_body_.size() < max_error_body_bytes;
    }
    report_progress();
    events_->feed(bytes);
    state_.unsolicited.count_bytes(events_->pop_noise_bytes());
    stream_->pause_reading(state_.unsolicited.delay());
    return !error_;
  }

  void report_progress() {
    if (events_->is_buffering()) {
      // It may belong to any of these calls.
      for (const auto& [call, sink] : sinks_) state_.on_progress(call);
    } else if (const auto call = call_of(events_->current_id()); call != 0 && sinks_.contains(call)) {
      state_.on_progress(call);
    }
  }

  void on_other(std::string_view type, std::string_view data) override {
    if (type != "endpoint" || !post_url_.empty() || error_) return;
    const auto url = resolve_url(stream_->request().url, std::string(data));
    if (!url || origin_of(*url) != state_.target.origin) {
      error_ = failure{errc::protocol_error,
                       display_url(state_.target.url) + " gave " + display_url(url ? *url : std::string(data)) +
                           " as the address for messages, which is on another origin and is not used",
                       {},
                       nullptr};
      return;
    }
    post_url_ = *url;
    // Later, because this runs inside the transfer of the stream.
    flush_timer_ = loop_->schedule_after(std::chrono::milliseconds(0), [this] {
      flush_timer_.reset();
      while (!queued_.empty()) {
        auto next = std::move(queued_.front());
        queued_.pop_front();
        scheduler_->add(std::move(next));
      }
    });
  }

  void on_message(std::string text, const std::optional<std::string>& id) override {
    if (!sinks_.empty() && is_answer(text, id, call_of(id))) sinks_.erase(call_of(id));
    if (unanswered_.erase(call_of(id)) == 0) state_.unsolicited.count_message(text.size());
    state_.on_message(0, std::move(text));
  }

  void on_invalid(failure error, const std::optional<std::string>& id) override {
    const auto call = call_of(id);
    if (call == 0) return state_.log("a message from " + display_url(state_.target.url) + " was skipped: " + error.public_text);
    erase_call(call);
    hondana::channel::termination termination;
    termination.reason = std::move(error);
    state_.on_call_finished(call, std::move(termination));
  }

  void on_finished(result<void> outcome) override {
    hondana::channel::termination termination;
    if (error_) {
      termination.reason = std::move(*error_);
    } else if (head_.status != 0 && !is_stream_) {
      termination = make_termination(head_, std::move(error_body_), state_.target.url, false);
    } else if (!outcome) {
      termination.reason = std::move(outcome.error());
    } else {
      termination.reason = {errc::source_unavailable, display_url(state_.target.url) + " ended its event stream", {}, nullptr};
    }
    // Calls that were not sent yet end with the precise reason; the others end with the connection.
    std::vector<call_id> failed_calls;
    for (const auto& message : queued_) {
      if (message.call != 0) failed_calls.push_back(message.call);
    }
    reset_connection();
    for (const auto call : failed_calls) state_.on_call_finished(call, termination);
    state_.on_connection_lost(std::move(termination.reason));
  }

  void reset_connection() {
    if (flush_timer_) loop_->cancel(*std::exchange(flush_timer_, std::nullopt));
    for (const auto& message : queued_) state_.queued_bytes -= message.text.size();
    queued_.clear();
    sinks_.clear();
    unanswered_.clear();
    posts_.clear();
    scheduler_->clear();
    post_url_.clear();
    is_stream_ = false;
    stream_.reset();
    state_.session = {};
    close_if_idle();
  }

  void close_if_idle() {
    if (closed_promise_ != nullptr && posts_.empty()) std::exchange(closed_promise_, nullptr)->set_value();
  }

  const std::unique_ptr<transfer_loop> loop_;
  channel_state state_;
  // Only for the loop's thread.
  std::unique_ptr<send_scheduler> scheduler_;
  std::unique_ptr<message_decoder> events_;
  std::unique_ptr<transfer> stream_;
  response_head head_{};
  bool is_stream_ = false;
  std::string error_body_;
  std::optional<failure> error_;
  std::string post_url_;
  std::optional<transfer_loop::timer> flush_timer_;
  std::deque<outgoing_message> queued_;  // waiting for the URL for POST requests
  std::unordered_map<send_scheduler::send_id, std::unique_ptr<message_post>> posts_;
  std::map<call_id, content_sink> sinks_;
  std::unordered_set<call_id> unanswered_;  // calls without an answer so far
  std::promise<void>* closed_promise_ = nullptr;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_http_sse(const http_target& target, channel::channel_listener& listener,
                                                        const channel::limits& limits,
                                                        std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto checked, check_target(target));
  HONDANA_TRY(auto loop, transfer_loop::start());
  return std::make_unique<http_sse>(std::move(loop), std::move(checked), listener, limits, std::move(log));
}

}  // namespace hondana::transport::http_client
