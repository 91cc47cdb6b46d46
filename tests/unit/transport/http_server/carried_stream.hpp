/// A message stream in the hands of a test.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "transport/http_server/message_stream.hpp"

namespace hondana::transport::http_server {

/// A source that the test fills.
class well final : public rpc::message_source {
 public:
  std::optional<std::string> next() override {
    ++asked;
    if (messages.empty()) return std::nullopt;
    auto out = std::move(messages.front());
    messages.pop_front();
    return out;
  }
  void set_listener(std::weak_ptr<rpc::source_listener> who) override {
    follower_ = std::move(who);
    if (!messages.empty()) wake();
  }
  bool is_finished() const override { return ended; }
  void pour(std::string message) {
    messages.push_back(std::move(message));
    wake();
  }
  bool is_followed() const { return !follower_.expired(); }

  std::deque<std::string> messages;
  int asked = 0;
  bool ended = false;

 private:
  void wake() const {
    if (const auto there = follower_.lock()) there->notify();
  }
  std::weak_ptr<rpc::source_listener> follower_;
};

struct counting_carrier final : rpc::source_listener {
  void notify() override { ++woken; }
  int woken = 0;
};

/// A stream with a carrier that counts how often it is woken.
struct carried_stream {
  explicit carried_stream(message_stream::traits is = {}, std::size_t room = 1u << 20)
      : budget(std::make_shared<byte_budget>(room)), stream(std::make_shared<message_stream>(std::move(is), budget)) {}

  void carry(std::optional<event_id> seen = {}) { mine = stream->attach(carrier, seen); }
  /// The next portion in words.
  std::string next() {
    auto what = stream->next(mine);
    if (!what) return "nothing";
    auto text = what->content.content ? what->content.content->extract_text() : std::string();
    const auto id = what->id.empty() ? std::string() : " id " + what->id;
    switch (what->type) {
      case portion::kind::opening:
        return "opening" + id;
      case portion::kind::message:
        return "message " + text + id;
      case portion::kind::answer:
        return "answer " + text + id;
      case portion::kind::retry:
        return "retry " + std::to_string(what->delay.count());
      case portion::kind::end:
        return "end";
    }
    return "?";
  }
  void answer(std::string text, int status = 200) { stream->answer({status, rpc::body(std::move(text))}); }

  std::shared_ptr<byte_budget> budget;
  std::shared_ptr<message_stream> stream;
  message_stream::attachment_id mine = 0;
  std::shared_ptr<counting_carrier> carrier = std::make_shared<counting_carrier>();
};

/// What a session of 2025-11-25 has.
inline message_stream::traits kept(const std::shared_ptr<replay_buffer>& log, std::uint64_t number = 4) {
  message_stream::traits is;
  is.number = number;
  is.replay = log;
  is.supports_polling = true;
  return is;
}

inline std::shared_ptr<replay_buffer> a_log() {
  return std::make_shared<replay_buffer>(10'000, std::make_shared<byte_budget>(100'000));
}

}  // namespace hondana::transport::http_server
