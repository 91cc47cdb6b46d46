/// A channel and a peer in this process, and the mailbox for messages of their sessions.
#include "transport/memory/memory_channel.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "protocol/channel/message_intake.hpp"
#include "protocol/rpc/message_body.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"

namespace hondana::transport {

struct mailbox::followed final : rpc::follower {
  void wake() override {
    if (const auto there = by.lock()) there->wake(*this);
  }
  std::shared_ptr<rpc::message_source> from;
  std::weak_ptr<mailbox> by;
  bool is_ready = false;
};

void mailbox::answer(rpc::delivery what) {
  if (what.content) put(std::make_shared<rpc::body>(std::move(*what.content)));
}

rpc::sending mailbox::send(std::string message) {
  put(std::make_shared<rpc::body>(std::move(message)));
  return rpc::sending::taken;
}

void mailbox::follow(std::shared_ptr<rpc::message_source> from) {
  const auto one = std::make_shared<followed>();
  one->from = std::move(from);
  one->by = weak_from_this();
  {
    const std::lock_guard lock(mutex_);
    sources_.push_back(one);
  }
  one->from->follow(one);
}

std::shared_ptr<rpc::body> mailbox::take(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool is_any = monotonic_clock::wait_until(arrived_, lock, deadline,
                                                    [this] { return is_closed_ || !messages_.empty() || ready() != nullptr; });
    if (!is_any || is_closed_) return nullptr;
    if (!messages_.empty()) {
      auto next = std::move(messages_.front());
      messages_.pop_front();
      return next;
    }
    const auto one = ready();
    one->is_ready = false;
    lock.unlock();
    auto message = one->from->next();
    if (message) {
      wake(*one);  // there may be more
      return std::make_shared<rpc::body>(std::move(*message));
    }
    lock.lock();
    if (one->from->has_ended()) std::erase(sources_, one);
  }
}

void mailbox::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  arrived_.notify_all();
}

void mailbox::wake(followed& one) {
  {
    const std::lock_guard lock(mutex_);
    one.is_ready = true;
  }
  arrived_.notify_one();
}

std::shared_ptr<mailbox::followed> mailbox::ready() const {
  const auto found = std::find_if(sources_.begin(), sources_.end(), [](const auto& one) { return one->is_ready; });
  return found == sources_.end() ? nullptr : *found;
}

void mailbox::put(std::shared_ptr<rpc::body> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  arrived_.notify_one();
}

namespace {

using hondana::channel::call_id;

/// Time limit for the next piece of content from the server's source.
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
        if (call && !forget(*call)) return;  // abandoned
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
    // Content of an abandoned call is discarded, not stored.
    return [](std::size_t, std::string_view) { return result<void>(); };
  }
  bool is_under_way(call_id call) {
    const std::lock_guard lock(mutex_);
    return under_way_.contains(call);
  }
  /// False if no caller waits for the answer. Ids of the server's own requests are never in the table.
  bool forget(call_id call) {
    const std::lock_guard lock(mutex_);
    return under_way_.erase(call) != 0;
  }

  hondana::channel::listener& hears_;
  const hondana::channel::limits most_;
  std::shared_ptr<mailbox> inbox_ = std::make_shared<mailbox>();
  std::shared_ptr<session::session> session_;
  rpc::facts facts_;
  std::mutex sending_;  // a session accepts one message at a time
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

namespace hondana::inline v0 {

struct memory_peer::state {
  std::shared_ptr<session::session> conversation;
  std::shared_ptr<transport::mailbox> inbox = std::make_shared<transport::mailbox>();
  rpc::facts facts;
};

memory_peer::memory_peer(server& server) : state_(std::make_unique<state>()) {
  state_->conversation = session::session::open(server.engine());
  state_->facts.who.identity = "local";
  state_->inbox->follow(state_->conversation->standing());
}

memory_peer::~memory_peer() { state_->conversation->close(); }

void memory_peer::send(std::string_view message) { state_->conversation->receive(message, state_->facts, state_->inbox); }

std::optional<std::string> memory_peer::receive(std::chrono::steady_clock::time_point deadline) {
  const auto message = state_->inbox->take(deadline);
  if (!message) return {};
  std::string text;
  for (;;) {
    const auto more = rpc::pull_until(message, text, deadline);
    if (!more) {  // a message that cannot be completed is cut off, as in every transport
      message->sent_for().tell(rpc::departure::cut);
      return {};
    }
    if (!*more) {
      message->sent_for().tell(rpc::departure::sent);
      return text;
    }
  }
}

}  // namespace hondana::inline v0
