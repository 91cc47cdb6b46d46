/// The in-process peer: messages handed over through a queue.
#include <hondana/server.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "rpc/blocking_pull.hpp"
#include "server/core.hpp"
#include "session/session.hpp"

namespace hondana::inline v0 {
namespace {

/// Answers waiting to be received; owned by the peer and by the requests under way.
class mailbox final : public rpc::outlet {
 public:
  void answer(rpc::delivery what) override {
    if (what.content) put(std::make_shared<rpc::body>(std::move(*what.content)));
  }
  void notify(std::string message) override { put(std::make_shared<rpc::body>(std::move(message))); }

  std::shared_ptr<rpc::body> take(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, deadline, [this] { return !messages_.empty(); })) return nullptr;
    auto next = std::move(messages_.front());
    messages_.pop_front();
    return next;
  }

 private:
  void put(std::shared_ptr<rpc::body> message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    arrived_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<rpc::body>> messages_;
};

}  // namespace

struct memory_peer::state {
  std::shared_ptr<session::session> conversation;
  std::shared_ptr<mailbox> inbox = std::make_shared<mailbox>();
  rpc::facts facts;
};

memory_peer::memory_peer(server& server) : state_(std::make_unique<state>()) {
  state_->conversation = session::session::open(server.engine());
  state_->facts.who.identity = "local";
}

memory_peer::~memory_peer() { state_->conversation->close(); }

void memory_peer::send(std::string_view message) { state_->conversation->receive(message, state_->facts, state_->inbox); }

std::optional<std::string> memory_peer::receive(std::chrono::steady_clock::time_point deadline) {
  const auto message = state_->inbox->take(deadline);
  if (!message) return {};
  std::string text;
  for (;;) {
    const auto more = rpc::pull_until(message, text, deadline);
    if (!more) return {};  // cut off, as every transport does with a message it cannot complete
    if (!*more) return text;
  }
}

}  // namespace hondana::inline v0
