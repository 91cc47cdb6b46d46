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
class input_dispatcher {
 public:
  explicit input_dispatcher(const client_handlers& handlers) : handlers_(handlers) {}

  /// Errors in the reply: -32601 if no handler is set, -32602 for malformed parameters, -32603 if the handler failed.
  [[nodiscard]] asking::reply dispatch(std::string_view method, const value& params);
  /// Whether a handler for this method is set. Threads: any.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Whether a person answers this method, so that it may take a long time. Threads: any.
  [[nodiscard]] static bool needs_user(std::string_view method) noexcept;

 private:
  const client_handlers& handlers_;
};

/// A request of the server for input.
struct input_task {
  std::string method;
  value params;
  std::size_t bytes = 0;              ///< Size of the message.
  std::shared_ptr<const void> owner;  ///< Owns the handlers; held until the request is answered.
};

/// Work queue with one thread for requests of the server for input. Threads: any.
class input_queue {
 public:
  /// The `owner` of each task must keep `handlers` alive.
  input_queue(const client_handlers& handlers, std::chrono::milliseconds timeout);

  /// Queues a task; `on_reply` gets the reply on the queue's thread, unless `is_stale` returns true by then. Returns false if
  /// the queue is full, or if a handler is waiting for the server: the server may be waiting for this reply.
  [[nodiscard]] bool enqueue(input_task task, std::function<bool()> is_stale,
                             std::function<void(const asking::reply&)> on_reply);
  /// Queues a task and waits for the reply. Errors: cancelled by `stop` or `close`, timed_out, overloaded.
  [[nodiscard]] result<asking::reply> execute(input_task task, const std::stop_token& stop);

  [[nodiscard]] const input_dispatcher& dispatcher() const noexcept { return dispatcher_; }
  /// While an object of it lives on the thread of a handler, that handler counts as waiting for the server.
  class wait_guard;
  /// Rejects all later tasks and wakes all waiting threads.
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

/// Has an effect only on the thread of a handler.
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
