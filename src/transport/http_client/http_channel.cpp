/// The channel for Streamable HTTP, with its GET stream and the end of its session.
#include "transport/http_client/http_channel.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <hondana/error.hpp>

#include "transport/http_client/channel_state.hpp"
#include "transport/http_client/event_stream.hpp"
#include "transport/http_client/post_exchange.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// Sends one DELETE and ignores the result, since servers need not support it. Threads: the loop's. Spec:
/// basic/transports#session-management.
class session_closer final : public response_listener {
 public:
  session_closer(transfer_loop& loop, channel_state& state, std::function<void()> on_done)
      : on_done_(std::move(on_done)), transfer_(loop, state.target, state.tokens, *this) {
    request_.method = http_method::remove;
    request_.url = state.target.url;
    request_.header_lines = state.session_lines();
  }
  void begin() { transfer_.begin(std::move(request_)); }

 private:
  bool on_head(const response_head&) override { return true; }
  bool on_body(std::string_view) override { return false; }
  void on_finished(result<void>) override { on_done_(); }

  http_request request_;
  std::function<void()> on_done_;
  transfer transfer_;
};

/// The GET stream of a session. Reopens the stream whenever it ends; servers need not offer one. Destruction closes it.
/// Threads: the loop's. Spec: basic/transports#listening-for-messages-from-the-server.
class server_stream final : public response_listener, public message_listener {
 public:
  /// `on_lost`: called if the session has ended, or if the stream cannot be reopened. It is the last callback and may destroy
  /// this object.
  server_stream(transfer_loop& loop, channel_state& state, std::function<void(failure)> on_lost);
  ~server_stream() override;

  void open();

 private:
  bool on_head(const response_head& head) override;
  bool on_body(std::string_view bytes) override;
  void on_finished(result<void> outcome) override;
  void on_message(std::string text, const std::optional<std::string>& id) override;
  void on_invalid(failure error, const std::optional<std::string>& id) override;
  void reopen_later(std::chrono::milliseconds delay);
  void give_up(failure error);

  transfer_loop& loop_;
  channel_state& state_;
  std::function<void(failure)> on_lost_;
  message_decoder events_;
  std::unique_ptr<transfer> transfer_;
  std::optional<transfer_loop::timer> timer_;
  response_head head_{};
  bool is_stream_ = false;     // the current answer is an event stream
  bool is_resumed_ = false;    // the request had a Last-Event-ID
  bool was_open_ = false;      // at least one stream was opened
  bool has_received_ = false;  // bytes arrived on the current connection
  bool had_session_ = false;
  std::size_t ignored_bytes_ = 0;  // body bytes of an answer that is not a stream
  int failures_ = 0;
};

server_stream::server_stream(transfer_loop& loop, channel_state& state, std::function<void(failure)> on_lost)
    : loop_(loop),
      state_(state),
      on_lost_(std::move(on_lost)),
      events_(*this, channel::routing_reader(state.limits, channel::content_sink()), message_decoder::error_timing::immediate) {
}

server_stream::~server_stream() {
  if (timer_) loop_.cancel(*timer_);
}

void server_stream::open() {
  is_stream_ = false;
  has_received_ = false;
  ignored_bytes_ = 0;
  head_ = {};
  events_.restart();
  had_session_ = state_.session.id.has_value();
  http_request request;
  request.url = state_.target.url;
  request.header_lines = state_.session_lines();
  request.header_lines.emplace_back("Accept: text/event-stream");
  const auto& last_id = events_.decoder().last_id();
  is_resumed_ = !last_id.empty() && is_field_value(last_id);
  if (is_resumed_) request.header_lines.push_back("Last-Event-ID: " + last_id);
  transfer_ = std::make_unique<transfer>(loop_, state_.target, state_.tokens, *this);
  transfer_->begin(std::move(request));
}

bool server_stream::on_head(const response_head& head) {
  head_ = head;
  is_stream_ = head.status == 200 && head.media_type() == "text/event-stream";
  if (is_stream_ && was_open_ && !is_resumed_) state_.on_stream_interrupted();
  was_open_ = was_open_ || is_stream_;
  return true;
}

bool server_stream::on_body(std::string_view bytes) {
  if (!is_stream_) {
    ignored_bytes_ += bytes.size();
    return ignored_bytes_ < max_error_body_bytes;
  }
  has_received_ = true;
  events_.feed(bytes);
  state_.unsolicited.count_bytes(events_.pop_noise_bytes());
  transfer_->pause_reading(state_.unsolicited.delay());
  return true;
}

void server_stream::on_message(std::string text, const std::optional<std::string>&) {
  state_.unsolicited.count_message(text.size());
  state_.on_message(0, std::move(text));
}

void server_stream::on_invalid(failure error, const std::optional<std::string>&) {
  state_.log("a message from " + display_url(state_.target.url) + " was skipped: " + error.public_text);
}

void server_stream::on_finished(result<void> outcome) {
  const auto min_delay = std::max(min_retry_delay, events_.decoder().retry().value_or(default_retry_delay));
  if (is_stream_) {
    // If the server closes each new stream at once, the pauses grow, but the client never gives up.
    failures_ = has_received_ ? 0 : failures_ + 1;
    return reopen_later(retry_delay(failures_, min_delay));
  }
  auto termination =
      outcome || head_.status != 0 ? make_termination(head_, {}, state_.target.url, had_session_) : channel::termination{};
  if (head_.status == 0 && !outcome) termination.reason = std::move(outcome.error());
  // A server without this stream may answer 404 instead of 405.
  if (termination.session_has_ended && was_open_) return give_up(std::move(termination.reason));
  const bool is_temporary = head_.status == 0 || head_.status == 408 || head_.status == 429 || head_.status >= 500;
  const bool may_retry = is_temporary && head_.status != 501 && termination.reason.code != errc::protocol_error &&
                         termination.reason.code != errc::unauthorized;
  if (may_retry && ++failures_ <= max_failed_attempts)
    return reopen_later(std::max(retry_delay(failures_, min_delay), termination.retry_after.value_or(min_delay)));
  if (was_open_) return give_up(std::move(termination.reason));
  if (head_.status != 405) state_.log("the server offers no stream for its own messages: " + termination.reason.public_text);
  transfer_.reset();
}

void server_stream::reopen_later(std::chrono::milliseconds delay) {
  transfer_.reset();
  timer_ = loop_.schedule_after(delay, [this] {
    timer_.reset();
    open();
  });
}

void server_stream::give_up(failure error) {
  transfer_.reset();
  const auto on_lost = std::move(on_lost_);
  on_lost(std::move(error));
}

namespace {

class streamable_http final : public channel::channel {
 public:
  streamable_http(std::unique_ptr<transfer_loop> loop, checked_target target, hondana::channel::channel_listener& listener,
                  const hondana::channel::limits& limits, std::function<void(std::string_view)> log)
      : loop_(std::move(loop)),
        state_(*loop_, std::move(target), listener, limits, std::move(log)),
        scheduler_(*loop_, state_, [this](send_scheduler::send_id id, hondana::channel::outgoing_message message) {
          start_exchange(id, std::move(message));
        }) {}
  ~streamable_http() override { close(std::chrono::milliseconds(0)); }

  void send(hondana::channel::outgoing_message message) override {
    enqueue(*loop_, state_, std::move(message),
            [this](hondana::channel::outgoing_message queued) { scheduler_.add(std::move(queued)); });
  }

  void abandon(hondana::channel::call_id call) override {
    loop_->post([this, call] {
      scheduler_.drop(call);
      if (exchanges_.erase(call) > 0) scheduler_.mark_finished(call);
    });
  }

  void end_connection(std::string reason) override {
    loop_->post([this, detail = std::move(reason)] {
      lose_session({errc::source_unavailable, display_url(state_.target.url) + ' ' + detail, {}, nullptr});
    });
  }

  void complete_handshake(hondana::channel::header_fields fields, bool has_session) override {
    loop_->post([this, fields = std::move(fields), has_session] {
      state_.session.fields = fields;
      state_.session.is_open = has_session;
      if (!has_session) state_.session.id.reset();
      if (stream_timer_) loop_->cancel(*std::exchange(stream_timer_, std::nullopt));
      stream_.reset();
      if (!has_session) return;
      stream_ = std::make_unique<server_stream>(*loop_, state_, [this](failure error) { lose_session(std::move(error)); });
      // Some servers accept the stream only after a notification. While that is in progress, the stream would need a connection
      // of its own. Calls, which are sent right after the notification, would overtake it, and their notifications would be
      // lost. So the stream waits for it.
      const auto delay = scheduler_.has_notified() ? std::chrono::milliseconds(0) : send_scheduler::max_notification_wait;
      stream_timer_ = loop_->schedule_after(delay, [this] { open_stream(); });
    });
  }

  void discard_session() override {
    loop_->post([this] { drop_session(); });
  }

  void close(std::chrono::milliseconds timeout) override {
    if (state_.is_closed.exchange(true)) return;
    if (timeout.count() > 0) {
      std::promise<void> closed;
      auto closed_future = closed.get_future();
      loop_->post([this, &closed] { begin_close(closed); });
      closed_future.wait_for(timeout);
      // Stop the thread before `closed` is destroyed, since it may still set the promise.
      loop_->stop();
    }
    loop_->stop();
    state_.tokens.close();
  }

  [[nodiscard]] std::string_view kind() const noexcept override { return "http"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return true; }

 private:
  void start_exchange(send_scheduler::send_id id, hondana::channel::outgoing_message message) {
    auto created = std::make_unique<exchange>(
        *loop_, state_, std::move(message),
        exchange::hooks{[this, id] { scheduler_.mark_answered(id); }, [this, id] { end_exchange(id); }});
    auto& started = *created;
    exchanges_[id] = std::move(created);
    started.begin();
  }

  void end_exchange(send_scheduler::send_id id) {
    exchanges_.erase(id);
    if (scheduler_.mark_finished(id)) open_stream();
    close_if_idle();
  }

  void open_stream() {
    if (!stream_timer_) return;
    loop_->cancel(*std::exchange(stream_timer_, std::nullopt));
    if (stream_) stream_->open();
  }

  void drop_session() {
    if (stream_timer_) loop_->cancel(*std::exchange(stream_timer_, std::nullopt));
    stream_.reset();
    state_.session = {};
  }

  void drop_calls() {
    scheduler_.clear();
    std::erase_if(exchanges_, [](const auto& entry) { return entry.first < send_scheduler::first_without_call; });
  }

  void lose_session(failure error) {
    drop_calls();
    drop_session();
    state_.on_connection_lost(std::move(error));
  }

  /// Closes the session: waits for pending notifications and answers, then sends DELETE.
  void begin_close(std::promise<void>& closed) {
    state_.tokens.close();
    drop_calls();
    if (stream_timer_) loop_->cancel(*std::exchange(stream_timer_, std::nullopt));
    stream_.reset();
    closed_promise_ = &closed;
    close_if_idle();
  }

  void close_if_idle() {
    if (closed_promise_ == nullptr || !exchanges_.empty() || session_closer_) return;
    const auto complete = [this] { std::exchange(closed_promise_, nullptr)->set_value(); };
    if (!state_.session.id) return complete();
    session_closer_ = std::make_unique<session_closer>(*loop_, state_, complete);
    session_closer_->begin();
  }

  const std::unique_ptr<transfer_loop> loop_;
  channel_state state_;
  // Only for the loop's thread.
  send_scheduler scheduler_;
  std::unordered_map<send_scheduler::send_id, std::unique_ptr<exchange>> exchanges_;
  std::unique_ptr<server_stream> stream_;
  std::optional<transfer_loop::timer> stream_timer_;
  std::promise<void>* closed_promise_ = nullptr;
  std::unique_ptr<session_closer> session_closer_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_http(const http_target& target, channel::channel_listener& listener,
                                                    const channel::limits& limits, std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto checked, check_target(target));
  HONDANA_TRY(auto loop, transfer_loop::start());
  return std::make_unique<streamable_http>(std::move(loop), std::move(checked), listener, limits, std::move(log));
}

}  // namespace hondana::transport::http_client
