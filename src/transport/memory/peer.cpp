/// The in-process peer: messages handed over through a queue.
#include <hondana/server.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "rpc/blocking_pull.hpp"
#include "server/core.hpp"
#include "session/session.hpp"

namespace hondana::inline v0 {
namespace {

/// Answers waiting to be received; owned by the peer and by the requests under way.
class mailbox final : public rpc::outlet, public std::enable_shared_from_this<mailbox> {
 public:
  void answer(rpc::delivery what) override {
    if (what.content) put(std::make_shared<rpc::body>(std::move(*what.content)));
  }
  rpc::sending send(std::string message) override {
    put(std::make_shared<rpc::body>(std::move(message)));
    return rpc::sending::taken;
  }

  void follow(std::shared_ptr<rpc::message_source> from) override {
    const auto one = std::make_shared<followed>();
    one->from = std::move(from);
    one->by = weak_from_this();
    {
      const std::lock_guard lock(mutex_);
      sources_.push_back(one);
    }
    one->from->follow(one);
  }

  std::shared_ptr<rpc::body> take(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!arrived_.wait_until(lock, deadline, [this] { return !messages_.empty() || ready() != nullptr; })) return nullptr;
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

 private:
  struct followed final : rpc::follower {
    void wake() override {
      if (const auto there = by.lock()) there->wake(*this);
    }
    std::shared_ptr<rpc::message_source> from;
    std::weak_ptr<mailbox> by;
    bool is_ready = false;
  };

  void wake(followed& one) {
    {
      const std::lock_guard lock(mutex_);
      one.is_ready = true;
    }
    arrived_.notify_one();
  }
  [[nodiscard]] std::shared_ptr<followed> ready() const {
    const auto found = std::find_if(sources_.begin(), sources_.end(), [](const auto& one) { return one->is_ready; });
    return found == sources_.end() ? nullptr : *found;
  }
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
  std::vector<std::shared_ptr<followed>> sources_;
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
    if (!more) return {};  // cut off, as every transport does with a message it cannot complete
    if (!*more) return text;
  }
}

}  // namespace hondana::inline v0
