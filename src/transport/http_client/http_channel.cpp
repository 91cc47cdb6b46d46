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
class session_end final : public answer_hearer {
 public:
  session_end(loop& within, conversation& in, std::function<void()> over)
      : over_(std::move(over)), transfer_(within, in.target, in.tokens, *this) {
    what_.what = verb::remove;
    what_.url = in.target.url;
    what_.header_lines = in.session_lines();
  }
  void begin() { transfer_.begin(std::move(what_)); }

 private:
  bool answered(const response_head&) override { return true; }
  bool body(std::string_view) override { return false; }
  void finished(result<void>) override { over_(); }

  http_request what_;
  std::function<void()> over_;
  transfer transfer_;
};

/// The GET stream of a session. Reopens the stream whenever it ends; servers need not offer one. Destruction closes it.
/// Threads: the loop's. Spec: basic/transports#listening-for-messages-from-the-server.
class server_stream final : public answer_hearer, public message_hearer {
 public:
  /// `lost`: called if the session has ended, or if the stream cannot be reopened. It is the last callback and may destroy this
  /// object.
  server_stream(loop& within, conversation& in, std::function<void(failure)> lost);
  ~server_stream() override;

  void open();

 private:
  bool answered(const response_head& head) override;
  bool body(std::string_view bytes) override;
  void finished(result<void> how) override;
  void message(std::string text, const std::optional<std::string>& id) override;
  void spoiled(failure why, const std::optional<std::string>& id) override;
  void again(std::chrono::milliseconds pause);
  void give_up(failure why);

  loop& loop_;
  conversation& in_;
  std::function<void(failure)> lost_;
  event_messages events_;
  std::unique_ptr<transfer> transfer_;
  std::optional<loop::timer> timer_;
  response_head head_{};
  bool is_stream_ = false;   // the current answer is an event stream
  bool is_resumed_ = false;  // the request had a Last-Event-ID
  bool was_open_ = false;    // at least one stream was opened
  bool has_heard_ = false;   // bytes arrived on the current connection
  bool had_session_ = false;
  std::size_t ignored_ = 0;  // body bytes of an answer that is not a stream
  int failures_ = 0;
};

server_stream::server_stream(loop& within, conversation& in, std::function<void(failure)> lost)
    : loop_(within),
      in_(in),
      lost_(std::move(lost)),
      events_(*this, channel::routed_intake(in.most, channel::content_sink()), event_messages::when_spoiled::at_once) {}

server_stream::~server_stream() {
  if (timer_) loop_.cancel(*timer_);
}

void server_stream::open() {
  is_stream_ = false;
  has_heard_ = false;
  ignored_ = 0;
  head_ = {};
  events_.restart();
  had_session_ = in_.session.id.has_value();
  http_request what;
  what.url = in_.target.url;
  what.header_lines = in_.session_lines();
  what.header_lines.emplace_back("Accept: text/event-stream");
  const auto& last_id = events_.decoder().last_id();
  is_resumed_ = !last_id.empty() && is_field_value(last_id);
  if (is_resumed_) what.header_lines.push_back("Last-Event-ID: " + last_id);
  transfer_ = std::make_unique<transfer>(loop_, in_.target, in_.tokens, *this);
  transfer_->begin(std::move(what));
}

bool server_stream::answered(const response_head& head) {
  head_ = head;
  is_stream_ = head.status == 200 && head.media_type() == "text/event-stream";
  if (is_stream_ && was_open_ && !is_resumed_) in_.interrupted();
  was_open_ = was_open_ || is_stream_;
  return true;
}

bool server_stream::body(std::string_view bytes) {
  if (!is_stream_) {
    ignored_ += bytes.size();
    return ignored_ < max_error_body_bytes;
  }
  has_heard_ = true;
  events_.feed(bytes);
  in_.unsolicited.bytes(events_.take_noise());
  transfer_->pause_reading(in_.unsolicited.pause());
  return true;
}

void server_stream::message(std::string text, const std::optional<std::string>&) {
  in_.unsolicited.message(text.size());
  in_.received(0, std::move(text));
}

void server_stream::spoiled(failure why, const std::optional<std::string>&) {
  in_.log("a message from " + shown(in_.target.url) + " was skipped: " + why.public_text);
}

void server_stream::finished(result<void> how) {
  const auto least = std::max(least_pause, events_.decoder().retry().value_or(usual_pause));
  if (is_stream_) {
    // If the server closes each new stream at once, the pauses grow, but the client never gives up.
    failures_ = has_heard_ ? 0 : failures_ + 1;
    return again(in_.pause_after(failures_, least));
  }
  auto why = how || head_.status != 0 ? ending_for(head_, {}, in_.target.url, had_session_) : channel::ending{};
  if (head_.status == 0 && !how) why.why = std::move(how.error());
  // A server without this stream may answer 404 instead of 405.
  if (why.session_has_ended && was_open_) return give_up(std::move(why.why));
  const bool is_passing = head_.status == 0 || head_.status == 408 || head_.status == 429 || head_.status >= 500;
  const bool is_worth_it =
      is_passing && head_.status != 501 && why.why.code != errc::broken_protocol && why.why.code != errc::unauthorized;
  if (is_worth_it && ++failures_ <= max_failed_attempts)
    return again(std::max(in_.pause_after(failures_, least), why.retry_after.value_or(least)));
  if (was_open_) return give_up(std::move(why.why));
  if (head_.status != 405) in_.log("the server offers no stream for its own messages: " + why.why.public_text);
  transfer_.reset();
}

void server_stream::again(std::chrono::milliseconds pause) {
  transfer_.reset();
  timer_ = loop_.after(pause, [this] {
    timer_.reset();
    open();
  });
}

void server_stream::give_up(failure why) {
  transfer_.reset();
  const auto lost = std::move(lost_);
  lost(std::move(why));
}

namespace {

class streamable_http final : public channel::channel {
 public:
  streamable_http(std::unique_ptr<loop> thread, checked_target target, hondana::channel::listener& hears,
                  const hondana::channel::limits& most, std::function<void(std::string_view)> log)
      : loop_(std::move(thread)),
        in_(*loop_, std::move(target), hears, most, std::move(log)),
        departures_(*loop_, in_,
                    [this](departures::name name, hondana::channel::outgoing message) { go(name, std::move(message)); }) {}
  ~streamable_http() override { close(std::chrono::milliseconds(0)); }

  void send(hondana::channel::outgoing message) override {
    enqueue(*loop_, in_, std::move(message), [this](hondana::channel::outgoing taken) { departures_.add(std::move(taken)); });
  }

  void abandon(hondana::channel::call_id call) override {
    loop_->post([this, call] {
      departures_.drop(call);
      if (exchanges_.erase(call) > 0) departures_.over(call);
    });
  }

  void end_connection(std::string why) override {
    loop_->post([this, why = std::move(why)] {
      lose_session({errc::source_unavailable, shown(in_.target.url) + ' ' + why, {}, nullptr});
    });
  }

  void opened(hondana::channel::header_fields fields, bool has_session) override {
    loop_->post([this, fields = std::move(fields), has_session] {
      in_.session.fields = fields;
      in_.session.is_open = has_session;
      if (!has_session) in_.session.id.reset();
      if (opening_) loop_->cancel(*std::exchange(opening_, std::nullopt));
      stream_.reset();
      if (!has_session) return;
      stream_ = std::make_unique<server_stream>(*loop_, in_, [this](failure why) { lose_session(std::move(why)); });
      // Some servers accept the stream only after a notification. While that is in progress, the stream would need a connection
      // of its own. Calls, which are sent right after the notification, would overtake it, and their notifications would be
      // lost. So the stream waits for it.
      const auto patience = departures_.has_notified() ? std::chrono::milliseconds(0) : departures::longest_notice;
      opening_ = loop_->after(patience, [this] { open_stream(); });
    });
  }

  void forget_session() override {
    loop_->post([this] { drop_session(); });
  }

  void close(std::chrono::milliseconds time) override {
    if (in_.is_closed.exchange(true)) return;
    if (time.count() > 0) {
      std::promise<void> left;
      auto has_left = left.get_future();
      loop_->post([this, &left] { leave(left); });
      has_left.wait_for(time);
      // Stop the thread before `left` is destroyed, since it may still set the promise.
      loop_->stop();
    }
    loop_->stop();
    in_.tokens.close();
  }

  [[nodiscard]] std::string_view kind() const noexcept override { return "http"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return true; }

 private:
  void go(departures::name name, hondana::channel::outgoing message) {
    auto one =
        std::make_unique<exchange>(*loop_, in_, std::move(message),
                                   exchange::hooks{[this, name] { departures_.answered(name); }, [this, name] { end(name); }});
    auto& it = *one;
    exchanges_[name] = std::move(one);
    it.begin();
  }

  void end(departures::name name) {
    exchanges_.erase(name);
    if (departures_.over(name)) open_stream();
    leave_if_done();
  }

  void open_stream() {
    if (!opening_) return;
    loop_->cancel(*std::exchange(opening_, std::nullopt));
    if (stream_) stream_->open();
  }

  void drop_session() {
    if (opening_) loop_->cancel(*std::exchange(opening_, std::nullopt));
    stream_.reset();
    in_.session = {};
  }

  void drop_calls() {
    departures_.clear();
    std::erase_if(exchanges_, [](const auto& one) { return one.first < departures::first_other; });
  }

  void lose_session(failure why) {
    drop_calls();
    drop_session();
    in_.broken(std::move(why));
  }

  /// Closes the session: waits for pending notifications and answers, then sends DELETE.
  void leave(std::promise<void>& left) {
    in_.tokens.close();
    drop_calls();
    if (opening_) loop_->cancel(*std::exchange(opening_, std::nullopt));
    stream_.reset();
    left_ = &left;
    leave_if_done();
  }

  void leave_if_done() {
    if (left_ == nullptr || !exchanges_.empty() || session_end_) return;
    const auto tell = [this] { std::exchange(left_, nullptr)->set_value(); };
    if (!in_.session.id) return tell();
    session_end_ = std::make_unique<session_end>(*loop_, in_, tell);
    session_end_->begin();
  }

  const std::unique_ptr<loop> loop_;
  conversation in_;
  // Only for the loop's thread.
  departures departures_;
  std::unordered_map<departures::name, std::unique_ptr<exchange>> exchanges_;
  std::unique_ptr<server_stream> stream_;
  std::optional<loop::timer> opening_;
  std::promise<void>* left_ = nullptr;
  std::unique_ptr<session_end> session_end_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_http(const http_target& target, channel::listener& hears,
                                                    const channel::limits& most, std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto checked, check_target(target));
  HONDANA_TRY(auto thread, loop::start());
  return std::make_unique<streamable_http>(std::move(thread), std::move(checked), hears, most, std::move(log));
}

}  // namespace hondana::transport::http_client
