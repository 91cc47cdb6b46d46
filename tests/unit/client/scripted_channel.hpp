/// A server of a test: every message of a client is answered by a function, over a channel that only exists in memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "client/engine.hpp"
#include "deadline.hpp"
#include "protocol/channel/channel.hpp"

namespace hondana::test {

namespace asking = wire::asking;

/// What the test's server hears and says. Threads: any.
class scripted_server {
 public:
  struct heard {
    std::string method;  ///< Empty: an answer.
    value message;
    channel::outgoing_message sent;
    [[nodiscard]] const value* param(std::string_view name) const {
      const auto* params = message.find("params");
      return params == nullptr ? nullptr : params->find(name);
    }
  };
  using answerer = std::function<void(scripted_server&, const heard&)>;

  explicit scripted_server(answerer answer, bool has_exchanges = false)
      : answer_(std::move(answer)), has_exchanges_(has_exchanges) {}
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;
  ~scripted_server() = default;

  void result(const heard& to, const std::string& json) {
    say(to.sent.call, R"({"jsonrpc":"2.0","id":)" + std::to_string(to.sent.call) + ",\"result\":" + json + "}");
  }
  void error(const heard& to, int code, const std::string& message, const std::string& data = {}) {
    say(to.sent.call, R"({"jsonrpc":"2.0","id":)" + std::to_string(to.sent.call) +
                          ",\"error\":{\"code\":" + std::to_string(code) + ",\"message\":\"" + message + "\"" +
                          (data.empty() ? "" : ",\"data\":" + data) + "}}");
  }
  /// A message, in the exchange of a call where there are exchanges.
  void say(channel::call_id in, std::string text) {
    push([=, this, text = std::move(text)](channel::channel_listener& to) { to.on_message(has_exchanges_ ? in : 0, text); });
  }
  void end(channel::call_id which, channel::termination how) {
    push([which, how = std::move(how)](channel::channel_listener& to) { to.on_call_finished(which, how); });
  }
  /// Bytes of an answer come so many times, and after each something else happens.
  void progress(channel::call_id of, int times, std::function<void()> then) {
    push([of, times, then = std::move(then)](channel::channel_listener& to) {
      for (int i = 0; i < times; ++i) {
        to.on_progress(of);
        then();
      }
    });
  }
  void interrupt() {
    push([](channel::channel_listener& to) { to.on_stream_interrupted(); });
  }
  void break_off(failure why) {
    push([why = std::move(why)](channel::channel_listener& to) { to.on_connection_lost(why); });
  }

  /// All that was heard so far, by method.
  [[nodiscard]] std::vector<heard> all(std::string_view method) const {
    const std::lock_guard lock(mutex_);
    std::vector<heard> out;
    for (const auto& one : heard_) {
      if (one.method == method) out.push_back(one);
    }
    return out;
  }
  /// Waits until so many messages of this method came.
  [[nodiscard]] bool waits_for(std::string_view method, std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] {
      std::size_t have = 0;
      for (const auto& one : heard_) have += one.method == method ? 1 : 0;
      return have >= count;
    });
  }
  [[nodiscard]] std::vector<channel::call_id> abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }

  /// For a client's engine; may be used again and again.
  [[nodiscard]] outbound::channel_maker maker() {
    return [this](const client_target&, bool is_older, channel::channel_listener& to, const channel::limits&,
                  const std::function<void(std::string_view)>&) -> hondana::result<std::unique_ptr<channel::channel>> {
      return std::make_unique<way>(*this, to, is_older);
    };
  }

 private:
  /// A thread of its own tells the listener, as real channels do.
  class way final : public channel::channel {
   public:
    way(scripted_server& of, hondana::channel::channel_listener& to, bool is_older)
        : of_(of), to_(to), is_older_(is_older), teller_([this](const std::stop_token& stop) { run(stop); }) {
      const std::lock_guard lock(of_.mutex_);
      of_.way_ = this;
    }
    ~way() override { close({}); }
    void send(hondana::channel::outgoing_message message) override {
      auto parsed = value::parse(message.text);
      heard one{{}, parsed ? *parsed : value(), std::move(message)};
      if (const auto* method = one.message.find("method"); method != nullptr && method->as_string())
        one.method = *method->as_string();
      // What is sent late goes nowhere: the test may be over.
      const std::lock_guard sending(sending_);
      if (is_closed_) return;
      // Both at once: what is sent after a test has heard this is answered after it, too.
      const std::lock_guard lock(of_.mutex_);
      of_.heard_.push_back(one);
      of_.changed_.notify_all();
      push([this, one](hondana::channel::channel_listener&) { of_.answer_(of_, one); });
    }
    void abandon(hondana::channel::call_id call) override {
      const std::lock_guard sending(sending_);
      if (is_closed_) return;
      const std::lock_guard lock(of_.mutex_);
      of_.abandoned_.push_back(call);
    }
    void end_connection(std::string why) override {
      push([why](hondana::channel::channel_listener& to) {
        to.on_connection_lost({errc::source_unavailable, "the server " + why, {}});
      });
    }
    void complete_handshake(hondana::channel::header_fields, bool) override {}
    void discard_session() override {}
    void close(std::chrono::milliseconds) override {
      {
        const std::lock_guard sending(sending_);
        if (std::exchange(is_closed_, true)) return;
      }
      {
        const std::lock_guard lock(of_.mutex_);
        if (of_.way_ == this) of_.way_ = nullptr;
      }
      teller_.request_stop();
      if (teller_.joinable()) teller_.join();
    }
    [[nodiscard]] std::string_view kind() const noexcept override {
      return !of_.has_exchanges_ ? "stdio" : is_older_ ? "http+sse" : "http";
    }
    [[nodiscard]] bool has_exchanges() const noexcept override { return of_.has_exchanges_ && !is_older_; }

    void push(std::function<void(hondana::channel::channel_listener&)> step) {
      const std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
      changed_.notify_all();
    }

   private:
    void run(const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      while (changed_.wait(lock, stop, [this] { return !steps_.empty(); })) {
        if (stop.stop_requested()) return;
        auto next = std::move(steps_.front());
        steps_.pop_front();
        lock.unlock();
        next(to_);
        lock.lock();
      }
    }

    scripted_server& of_;
    hondana::channel::channel_listener& to_;
    const bool is_older_;
    std::mutex sending_;
    bool is_closed_ = false;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void(hondana::channel::channel_listener&)>> steps_;
    std::jthread teller_;
  };

  void push(std::function<void(channel::channel_listener&)> step) {
    const std::lock_guard lock(mutex_);
    if (way_ != nullptr) way_->push(std::move(step));
  }

  const answerer answer_;
  const bool has_exchanges_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  way* way_ = nullptr;
  std::vector<heard> heard_;
  std::vector<channel::call_id> abandoned_;
};

/// Calls take as long as they need where a test does not set their time.
inline client_options with_long_times(client_options options) {
  const client_options usual;
  for (auto time : {&client_options::call_timeout, &client_options::probe_timeout}) {
    if (options.*time == usual.*time) options.*time = std::chrono::hours(1);
  }
  return options;
}

/// An engine that ends with the test.
class opened_engine {
 public:
  explicit opened_engine(scripted_server& server, client_options options = {}, client_target target = child_target{})
      : inner_(std::make_shared<outbound::engine>(std::move(target), with_long_times(std::move(options)), server.maker())) {}
  opened_engine(const opened_engine&) = delete;
  opened_engine& operator=(const opened_engine&) = delete;
  ~opened_engine() { inner_->close(); }
  outbound::engine* operator->() const { return inner_.get(); }
  outbound::engine& operator*() const { return *inner_; }

 private:
  std::shared_ptr<outbound::engine> inner_;
};

inline constexpr const char* modern_self =
    R"({"resultType":"complete","ttlMs":0,"cacheScope":"public","supportedVersions":["2026-07-28"],)"
    R"("capabilities":{"resources":{"subscribe":true,"listChanged":true},"tools":{},"completions":{}},)"
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}})";

/// What `initialize` is answered with.
inline std::string older_self(const std::string& revision) {
  return R"({"protocolVersion":")" + revision +
         R"(","capabilities":{"resources":{"subscribe":true,"listChanged":true},"tools":{}},"serverInfo":{"name":"older","version":"1"}})";
}

}  // namespace hondana::test
