/// Requests of servers for input, passed to the application's handlers one at a time.
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

/// Asks the handlers. Threads: one at a time; blocks.
class questions {
 public:
  explicit questions(const client_handlers& by) : by_(by) {}

  /// Errors in the reply: -32601 for what has no handler, -32602 for malformed parameters, -32603 for a handler that failed.
  [[nodiscard]] asking::reply answer(std::string_view method, const value& params);
  /// Whether anybody answers this. Threads: any.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Whether it is people who answer, so that it may take its time. Threads: any.
  [[nodiscard]] static bool takes_time(std::string_view method) noexcept;

 private:
  const client_handlers& by_;
};

/// One question of a server.
struct question {
  std::string method;
  value params;
  std::size_t bytes = 0;              ///< Of the message it came in.
  std::shared_ptr<const void> keeps;  ///< Lives until it is answered; owns the handlers.
};

/// Threads: any.
class asking_lane {
 public:
  /// `by` lives as long as anything that questions keep.
  asking_lane(const client_handlers& by, std::chrono::milliseconds most_time);

  /// Asks, and gives the reply to `into` on the lane's thread, unless `is_stale` says by then that nobody waits for it. False
  /// when too many wait already, and while a handler itself waits for the server, which may be waiting for this.
  [[nodiscard]] bool ask(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into);
  /// The same, waiting for the reply. Errors: cancelled by `stop` or by `close`, timed_out, overloaded.
  [[nodiscard]] result<asking::reply> answer(question what, const std::stop_token& stop);

  [[nodiscard]] const questions& who() const noexcept { return asked_; }
  /// Notes, while it lives on the thread of a handler, that the handler waits for the server.
  class waiting;
  /// Refuses everything from now on, and lets go of those who wait.
  void close();

 private:
  [[nodiscard]] bool is_here() const noexcept { return here_.load() == std::this_thread::get_id(); }
  [[nodiscard]] bool submit(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into);

  questions asked_;
  const std::chrono::milliseconds most_time_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::thread::id> here_{};  // of pool_
  std::atomic<int> waiting_{0};
  std::stop_source closing_;
  executor::pool pool_;
};

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
