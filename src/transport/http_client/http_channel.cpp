/// The channel of Streamable HTTP.
#include "transport/http_client/http_channel.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "transport/http_client/conversation.hpp"
#include "transport/http_client/departures.hpp"
#include "transport/http_client/exchange.hpp"
#include "transport/http_client/loop.hpp"
#include "transport/http_client/outgoing_queue.hpp"
#include "transport/http_client/server_stream.hpp"
#include "transport/http_client/session_end.hpp"

namespace hondana::transport::http_client {
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
      // Some servers serve the stream only when they have taken a notification. While one is under way the stream would need
      // a connection of its own, and calls, which go as soon as it is taken, would overtake it: what they cause would be lost.
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
      // Before the promise goes: the thread may still want to keep it.
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

  /// The end: what has no answer goes out, then the session is ended.
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
  // The loop's thread only.
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
