/// Telling a client what a server's session says.
#include "transport/memory/memory_channel.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/channel/routed_intake.hpp"
#include "protocol/rpc/blocking_pull.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "transport/memory/mailbox.hpp"

namespace hondana::transport {
namespace {

using hondana::channel::call_id;

/// Until a piece of a content must have come from the server's source.
constexpr std::chrono::seconds piece_time{60};

class memory_channel final : public hondana::channel::channel {
 public:
  memory_channel(hondana::server& to, hondana::channel::listener& hears, const hondana::channel::limits& most)
      : hears_(hears), most_(most), session_(session::session::open(to.engine())) {
    facts_.who.identity = "local";
    inbox_->follow(session_->standing());
  }
  ~memory_channel() override { close({}); }

  void start() {
    teller_ = std::thread([this] { run(); });
  }

  void send(hondana::channel::outgoing message) override {
    if (message.call != 0) {
      const std::lock_guard lock(mutex_);
      under_way_.emplace(message.call, std::move(message.content));
    }
    const std::lock_guard lock(sending_);
    session_->receive(message.text, facts_, inbox_);
  }
  void abandon(call_id call) override {
    const std::lock_guard lock(mutex_);
    under_way_.erase(call);
  }
  void end_connection(std::string) override {}  // the server is part of this process
  void opened(hondana::channel::header_fields, bool) override {}
  void forget_session() override {}
  void close(std::chrono::milliseconds) override {
    inbox_->close();
    if (teller_.joinable()) {
      teller_.join();
      session_->close();
    }
  }
  [[nodiscard]] std::string_view kind() const noexcept override { return "memory"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void run() {
    while (const auto message = inbox_->take(std::chrono::steady_clock::time_point::max())) tell(message);
  }

  void tell(const std::shared_ptr<rpc::body>& message) {
    hondana::channel::routed_intake intake(most_, [this](const std::string& id) { return sink_of(id); });
    std::optional<failure> why;
    std::string piece;
    for (bool more = true; more && !why;) {
      piece.clear();
      const auto got = rpc::pull_until(message, piece, monotonic_clock::now() + piece_time);
      if (!got) {
        why = got.error();
        break;
      }
      more = *got;
      if (auto taken = intake.feed(piece); !taken) why = std::move(taken.error());
      if (const auto id = intake.id()) {
        if (const auto call = hondana::channel::call_named(*id); call && is_under_way(*call)) hears_.progressed(*call);
      }
    }
    message->sent_for().tell(why ? rpc::departure::cut : rpc::departure::sent);
    const auto id = intake.id();
    const auto call = id ? hondana::channel::call_named(*id) : std::nullopt;
    if (!why) {
      auto whole = intake.finish();
      if (whole) {
        if (call && !forget(*call)) return;  // given up
        hears_.received(0, std::move(*whole));
        return;
      }
      why = std::move(whole.error());
    }
    if (call && forget(*call)) hears_.ended(*call, {.why = std::move(*why)});
  }

  hondana::channel::content_sink sink_of(const std::string& id) {
    const auto call = hondana::channel::call_named(id);
    const std::lock_guard lock(mutex_);
    const auto found = call ? under_way_.find(*call) : under_way_.end();
    if (found != under_way_.end()) return found->second;
    if (!call) return {};
    // Content of an answer that nobody wants any more is passed over, not kept.
    return [](std::size_t, std::string_view) { return result<void>(); };
  }
  bool is_under_way(call_id call) {
    const std::lock_guard lock(mutex_);
    return under_way_.contains(call);
  }
  /// False when nobody waits for the answer any more. Requests of the server have ids of another kind.
  bool forget(call_id call) {
    const std::lock_guard lock(mutex_);
    return under_way_.erase(call) != 0;
  }

  hondana::channel::listener& hears_;
  const hondana::channel::limits most_;
  std::shared_ptr<mailbox> inbox_ = std::make_shared<mailbox>();
  std::shared_ptr<session::session> session_;
  rpc::facts facts_;
  std::mutex sending_;  // a session takes one message at a time
  std::mutex mutex_;
  std::map<call_id, hondana::channel::content_sink> under_way_;
  std::thread teller_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& to, channel::listener& hears,
                                                              const channel::limits& most) {
  auto made = std::make_unique<memory_channel>(to, hears, most);
  try {
    made->start();
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for the connection", error.what());
  }
  return made;
}

}  // namespace hondana::transport
