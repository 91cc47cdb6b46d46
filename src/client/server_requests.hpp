/// Passes the server's questions (requests for input) to the application's handlers, one at a time.
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

/// Calls the application's handlers. Threads: one at a time, except where noted.
class input_dispatcher {
 public:
  /// `handlers` must outlive this object.
  explicit input_dispatcher(const client_handlers& handlers) : handlers_(handlers) {}

  /// Calls the handler for a question, and returns its reply; blocks. Errors in the reply: -32601 if no handler is set, -32602
  /// for malformed parameters, -32603 if the handler failed.
  [[nodiscard]] asking::reply dispatch(std::string_view method, const value& params);
  /// Returns whether a handler for this method is set. Threads: any.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Returns whether a user may have to answer this method, which can take long. Threads: any.
  [[nodiscard]] static bool needs_user(std::string_view method) noexcept;

 private:
  const client_handlers& handlers_;
};

/// A question of the server.
struct input_task {
  std::string method;
  value params;
  std::size_t bytes = 0;              ///< Size of the message, for the limit of the queue.
  std::shared_ptr<const void> owner;  ///< Keeps the handlers alive until the question is answered.
};

/// A queue of questions, and the thread that passes them to the handlers. Threads: any.
class input_queue {
 public:
  /// The `owner` of each task must keep `handlers` alive. `timeout`: how long `execute` waits.
  input_queue(const client_handlers& handlers, std::chrono::milliseconds timeout);

  /// Queues a task. Calls `on_reply` with the reply on the queue's thread, unless `is_stale` returns true by then. Returns
  /// false if the queue is full, or if a handler waits for the server: the server may wait for this reply before it answers.
  [[nodiscard]] bool enqueue(input_task task, std::function<bool()> is_stale,
                             std::function<void(const asking::reply&)> on_reply);
  /// Queues a task and waits for the reply. If a handler calls it, the reply is an error at once. Errors: cancelled by `stop`
  /// or `close`, timed_out, overloaded.
  [[nodiscard]] result<asking::reply> execute(input_task task, const std::stop_token& stop);

  [[nodiscard]] const input_dispatcher& dispatcher() const noexcept { return dispatcher_; }
  class wait_guard;
  /// Rejects all later tasks, and wakes the threads in `execute`. Does not wait for a running handler.
  void close();

 private:
  [[nodiscard]] bool is_own_thread() const noexcept { return thread_.load() == std::this_thread::get_id(); }
  [[nodiscard]] bool submit(input_task task, std::function<bool()> is_stale,
                            std::function<void(const asking::reply&)> on_reply);

  input_dispatcher dispatcher_;
  const std::chrono::milliseconds timeout_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::thread::id> thread_{};  // the thread of `pool_`
  std::atomic<int> waiting_handlers_{0};
  std::stop_source closing_;
  executor::thread_pool pool_;
};

/// While a `wait_guard` exists on the queue's thread, the running handler counts as waiting for the server. No effect on other
/// threads.
class input_queue::wait_guard {
 public:
  explicit wait_guard(input_queue& queue) : queue_(queue.is_own_thread() ? &queue : nullptr) {
    if (queue_ != nullptr) ++queue_->waiting_handlers_;
  }
  ~wait_guard() {
    if (queue_ != nullptr) --queue_->waiting_handlers_;
  }
  wait_guard(const wait_guard&) = delete;
  wait_guard& operator=(const wait_guard&) = delete;

 private:
  input_queue* queue_;
};

}  // namespace hondana::outbound
