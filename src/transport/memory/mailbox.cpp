/// Handing messages over through a queue.
#include "transport/memory/mailbox.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

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

}  // namespace hondana::transport
