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
#include "protocol/channel/message_intake.hpp"
#include "transport/http_client/channel_state.hpp"
#include "transport/http_client/event_stream.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// POSTs a message and reports whether the server accepted it. Destruction ends it without a callback. Threads: the loop's.
/// Spec: 2024-11-05 basic/transports#http-with-sse.
class delivery final : public answer_hearer {
 public:
  /// Empty: the server accepted the message. It is the last callback and may destroy the delivery.
  using hook = std::function<void(std::optional<channel::ending>)>;

  delivery(loop& within, conversation& in, std::string url, channel::outgoing message, hook over);
  ~delivery() override;

  void begin();

 private:
  bool answered(const response_head& head) override;
  bool body(std::string_view bytes) override;
  void finished(result<void> how) override;
  void release_queue() { in_.queued_bytes -= std::exchange(queued_, 0); }

  conversation& in_;
  std::string url_;
  channel::outgoing message_;
  hook over_;
  std::size_t queued_;
  response_head head_{};
  std::string body_;
  transfer transfer_;
};

delivery::delivery(loop& within, conversation& in, std::string url, channel::outgoing message, hook over)
    : in_(in),
      url_(std::move(url)),
      message_(std::move(message)),
      over_(std::move(over)),
      queued_(message_.text.size()),
      transfer_(within, in.target, in.tokens, *this) {}

delivery::~delivery() { release_queue(); }

void delivery::begin() {
  http_request what;
  what.what = verb::post;
  what.url = url_;
  what.header_lines = in_.session_lines();
  what.header_lines.emplace_back("Content-Type: application/json");
  what.body = std::move(message_.text);
  transfer_.begin(std::move(what));
}

bool delivery::answered(const response_head& head) {
  head_ = head;
  release_queue();
  // A stream as the answer to a POST would stay open for nothing.
  return head.media_type() != "text/event-stream";
}

bool delivery::body(std::string_view bytes) {
  body_ += bytes.substr(0, max_error_body_bytes - body_.size());
  return body_.size() < max_error_body_bytes;
}

void delivery::finished(result<void> how) {
  std::optional<channel::ending> failed;
  if (head_.status != 0 && !head_.is_success()) {
    failed = ending_for(head_, std::move(body_), url_, false);
  } else if (!how && head_.status == 0) {
    failed.emplace();
    failed->why = std::move(how.error());
  }
  const auto over = std::move(over_);
  over(std::move(failed));
}

namespace {

using hondana::channel::call_id;
using hondana::channel::content_sink;
using hondana::channel::outgoing;

/// The call with this id; 0 if the id is not one of ours.
call_id call_or_none(const std::optional<std::string>& id) { return id ? hondana::channel::call_named(*id).value_or(0) : 0; }

class http_sse final : public channel::channel, public answer_hearer, public message_hearer {
 public:
  http_sse(std::unique_ptr<loop> thread, checked_target target, hondana::channel::listener& hears,
           const hondana::channel::limits& most, std::function<void(std::string_view)> log)
      : loop_(std::move(thread)), in_(*loop_, std::move(target), hears, most, std::move(log)) {
    connect_parts();
  }
  ~http_sse() override { close(std::chrono::milliseconds(0)); }

  void send(outgoing message) override {
    enqueue(*loop_, in_, std::move(message), [this](outgoing taken) { start(std::move(taken)); });
  }

  void abandon(call_id call) override {
    loop_->post([this, call] {
      departures_->drop(call);
      if (deliveries_.erase(call) > 0) departures_->over(call);
      drop_early(call);
      forget(call);
    });
  }

  void end_connection(std::string why) override {
    loop_->post([this, why = std::move(why)] {
      if (!stream_) return;
      forget_connection();
      in_.broken({errc::source_unavailable, shown(in_.target.url) + ' ' + why, {}, nullptr});
    });
  }

  void opened(hondana::channel::header_fields fields, bool) override {
    loop_->post([this, fields = std::move(fields)] { in_.session.fields = fields; });
  }

  void forget_session() override {
    loop_->post([this] { in_.session = {}; });
  }

  void close(std::chrono::milliseconds time) override {
    if (in_.is_closed.exchange(true)) return;
    if (time.count() > 0) {
      std::promise<void> left;
      auto has_left = left.get_future();
      loop_->post([this, &left] {
        in_.tokens.close();
        departures_->clear();
        std::erase_if(deliveries_, [](const auto& one) { return one.first < departures::first_other; });
        left_ = &left;
        leave_if_done();
      });
      has_left.wait_for(time);
      // Stop the thread before `left` is destroyed, since it may still set the promise.
      loop_->stop();
    }
    loop_->stop();
    in_.tokens.close();
  }

  [[nodiscard]] std::string_view kind() const noexcept override { return "http+sse"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void connect_parts() {
    departures_ = std::make_unique<departures>(
        *loop_, in_, [this](departures::name name, outgoing message) { deliver(name, std::move(message)); });
    events_ = std::make_unique<event_messages>(
        *this,
        hondana::channel::routed_intake(
            in_.most, [this](const std::string& id) { return sink_of(id); }, [this] { return late_sink(); }),
        event_messages::when_spoiled::at_end);
  }

  void start(outgoing message) {
    if (!stream_) open();
    if (message.call != 0) waiting_.insert(message.call);
    if (message.content) sinks_[message.call] = message.content;
    if (post_url_.empty() || !early_.empty()) {
      early_.push_back(std::move(message));
    } else {
      departures_->add(std::move(message));
    }
  }

  void open() {
    head_ = {};
    error_body_.clear();
    wrong_.reset();
    connect_parts();
    http_request what;
    what.url = in_.target.url;
    what.header_lines = {"Accept: text/event-stream"};
    stream_ = std::make_unique<transfer>(*loop_, in_.target, in_.tokens, *this);
    stream_->begin(std::move(what));
  }

  void deliver(departures::name name, outgoing message) {
    auto one = std::make_unique<delivery>(*loop_, in_, post_url_, std::move(message),
                                          [this, name](std::optional<hondana::channel::ending> failed) {
                                            deliveries_.erase(name);
                                            departures_->over(name);
                                            if (failed) not_taken(name, std::move(*failed));
                                            leave_if_done();
                                          });
    auto& it = *one;
    deliveries_[name] = std::move(one);
    it.begin();
  }

  void not_taken(departures::name name, hondana::channel::ending how) {
    if (name >= departures::first_other) return in_.log("a message was rejected: " + how.why.public_text);
    forget(name);
    in_.ended(name, std::move(how));
  }

  void forget(call_id call) {
    sinks_.erase(call);
    waiting_.erase(call);
  }

  void drop_early(call_id call) {
    const auto found = std::find_if(early_.begin(), early_.end(), [&](const auto& one) { return one.call == call; });
    if (found == early_.end()) return;
    in_.queued_bytes -= found->text.size();
    early_.erase(found);
  }

  content_sink sink_of(const std::string& id) {
    const auto found = sinks_.find(call_or_none(id));
    if (found == sinks_.end() || !events_->is_holding()) return found == sinks_.end() ? content_sink() : found->second;
    // The held content arrives at once, and the sink may take long, so each piece extends the timeout.
    return [this, call = found->first, into = found->second](std::size_t item, std::string_view bytes) {
      in_.progressed(call);
      return into(item, bytes);
    };
  }
  /// The sink for a message without an id so far. If no call has a sink, the message is stored in memory; otherwise it is held
  /// back.
  [[nodiscard]] std::optional<content_sink> late_sink() const {
    return sinks_.empty() ? std::optional(content_sink()) : std::nullopt;
  }

  // The callbacks of the stream.

  bool answered(const response_head& head) override {
    head_ = head;
    is_stream_ = head.status == 200 && head.media_type() == "text/event-stream";
    return true;
  }

  bool body(std::string_view bytes) override {
    if (!is_stream_) {
      error_body_ += bytes.substr(0, max_error_body_bytes - error_body_.size());
      return error_body_.size() < max_error_body_bytes;
    }
    tell_progress();
    events_->feed(bytes);
    in_.unsolicited.bytes(events_->take_noise());
    stream_->pause_reading(in_.unsolicited.pause());
    return !wrong_;
  }

  void tell_progress() {
    if (events_->is_holding()) {
      // It may belong to any of these calls.
      for (const auto& [call, sink] : sinks_) in_.progressed(call);
    } else if (const auto call = call_or_none(events_->coming_id()); call != 0 && sinks_.contains(call)) {
      in_.progressed(call);
    }
  }

  void other(std::string_view type, std::string_view data) override {
    if (type != "endpoint" || !post_url_.empty() || wrong_) return;
    const auto to = resolved(stream_->request().url, std::string(data));
    if (!to || origin_of(*to) != in_.target.origin) {
      wrong_ = failure{errc::broken_protocol,
                       shown(in_.target.url) + " gave " + shown(to ? *to : std::string(data)) +
                           " as the address for messages, which is on another origin and is not used",
                       {},
                       nullptr};
      return;
    }
    post_url_ = *to;
    // Later, because this runs inside the transfer of the stream.
    flush_ = loop_->after(std::chrono::milliseconds(0), [this] {
      flush_.reset();
      while (!early_.empty()) {
        auto next = std::move(early_.front());
        early_.pop_front();
        departures_->add(std::move(next));
      }
    });
  }

  void message(std::string text, const std::optional<std::string>& id) override {
    if (!sinks_.empty() && is_answer(text, id, call_or_none(id))) sinks_.erase(call_or_none(id));
    if (waiting_.erase(call_or_none(id)) == 0) in_.unsolicited.message(text.size());
    in_.received(0, std::move(text));
  }

  void spoiled(failure why, const std::optional<std::string>& id) override {
    const auto call = call_or_none(id);
    if (call == 0) return in_.log("a message from " + shown(in_.target.url) + " was skipped: " + why.public_text);
    forget(call);
    hondana::channel::ending how;
    how.why = std::move(why);
    in_.ended(call, std::move(how));
  }

  void finished(result<void> how) override {
    hondana::channel::ending why;
    if (wrong_) {
      why.why = std::move(*wrong_);
    } else if (head_.status != 0 && !is_stream_) {
      why = ending_for(head_, std::move(error_body_), in_.target.url, false);
    } else if (!how) {
      why.why = std::move(how.error());
    } else {
      why.why = {errc::source_unavailable, shown(in_.target.url) + " ended its event stream", {}, nullptr};
    }
    // Calls that were not sent yet end with the precise reason; the others end with the connection.
    std::vector<call_id> told;
    for (const auto& one : early_) {
      in_.queued_bytes -= one.text.size();
      if (one.call != 0) told.push_back(one.call);
    }
    forget_connection();
    for (const auto call : told) in_.ended(call, why);
    in_.broken(std::move(why.why));
  }

  void forget_connection() {
    if (flush_) loop_->cancel(*std::exchange(flush_, std::nullopt));
    early_.clear();
    sinks_.clear();
    waiting_.clear();
    deliveries_.clear();
    departures_->clear();
    post_url_.clear();
    is_stream_ = false;
    stream_.reset();
    in_.session = {};
    leave_if_done();
  }

  void leave_if_done() {
    if (left_ != nullptr && deliveries_.empty()) std::exchange(left_, nullptr)->set_value();
  }

  const std::unique_ptr<loop> loop_;
  conversation in_;
  // Only for the loop's thread.
  std::unique_ptr<departures> departures_;
  std::unique_ptr<event_messages> events_;
  std::unique_ptr<transfer> stream_;
  response_head head_{};
  bool is_stream_ = false;
  std::string error_body_;
  std::optional<failure> wrong_;
  std::string post_url_;
  std::optional<loop::timer> flush_;
  std::deque<outgoing> early_;  // waiting for the URL for POST requests
  std::unordered_map<departures::name, std::unique_ptr<delivery>> deliveries_;
  std::map<call_id, content_sink> sinks_;
  std::unordered_set<call_id> waiting_;  // calls without an answer so far
  std::promise<void>* left_ = nullptr;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_http_sse(const http_target& target, channel::listener& hears,
                                                        const channel::limits& most,
                                                        std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto checked, check_target(target));
  HONDANA_TRY(auto thread, loop::start());
  return std::make_unique<http_sse>(std::move(thread), std::move(checked), hears, most, std::move(log));
}

}  // namespace hondana::transport::http_client
