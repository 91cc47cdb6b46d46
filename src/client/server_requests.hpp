/// Passes requests of servers for input to the application's handlers, one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <hondana/client.hpp>

#include "base/executor/thread_pool.hpp"
#include "protocol/wire/asking/server_messages.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;

/// Calls the application's handlers. Threads: one at a time, except where noted; blocks.
class questions {
 public:
  explicit questions(const client_handlers& by) : by_(by) {}

  /// Errors in the reply: -32601 if no handler is set, -32602 for malformed parameters, -32603 if the handler failed.
  [[nodiscard]] asking::reply answer(std::string_view method, const value& params);
  /// Whether a handler for this method is set. Threads: any.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Whether a person answers this method, so that it may take a long time. Threads: any.
  [[nodiscard]] static bool takes_time(std::string_view method) noexcept;

 private:
  const client_handlers& by_;
};

/// A request of the server for input.
struct question {
  std::string method;
  value params;
  std::size_t bytes = 0;              ///< Size of the message.
  std::shared_ptr<const void> keeps;  ///< Owns the handlers; held until the question is answered.
};

/// Work queue with one thread for questions of the server. Threads: any.
class asking_lane {
 public:
  /// The `keeps` of each question must keep `by` alive.
  asking_lane(const client_handlers& by, std::chrono::milliseconds most_time);

  /// Queues a question; `into` gets the reply on the queue's thread, unless `is_stale` returns true by then. Returns false if
  /// the queue is full, or if a handler is waiting for the server: the server may be waiting for this reply.
  [[nodiscard]] bool ask(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into);
  /// Queues a question and waits for the reply. Errors: cancelled by `stop` or `close`, timed_out, overloaded.
  [[nodiscard]] result<asking::reply> answer(question what, const std::stop_token& stop);

  [[nodiscard]] const questions& who() const noexcept { return asked_; }
  /// While an object of it lives on the thread of a handler, that handler counts as waiting for the server.
  class waiting;
  /// Rejects all later questions and wakes all waiting threads.
  void close();

 private:
  [[nodiscard]] bool is_here() const noexcept { return here_.load() == std::this_thread::get_id(); }
  [[nodiscard]] bool submit(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into);

  questions asked_;
  const std::chrono::milliseconds most_time_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::thread::id> here_{};  // the thread of `pool_`
  std::atomic<int> waiting_{0};
  std::stop_source closing_;
  executor::pool pool_;
};

/// Has an effect only on the thread of a handler.
class asking_lane::waiting {
 public:
  explicit waiting(asking_lane& of) : of_(of.is_here() ? &of : nullptr) {
    if (of_ != nullptr) ++of_->waiting_;
  }
  ~waiting() {
    if (of_ != nullptr) --of_->waiting_;
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

 private:
  asking_lane* of_;
};

}  // namespace hondana::outbound
