/// Explains why a caller may or may not list or read a resource, template, tool or prompt.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "app/cli/arguments.hpp"

namespace hondana::cli {

/// Calls `request` with a callback, and blocks until the callback is called, from any thread. Errors: those of the answer;
/// timed_out without an answer within `timeout`; internal if the callback is destroyed without being called.
template <class T, class Request>
[[nodiscard]] result<T> await_result(std::chrono::milliseconds timeout, Request&& request) {
  struct pending_result {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<result<T>> outcome;

    void complete(result<T> received) {
      {
        const std::lock_guard lock(mutex);
        if (!outcome) outcome = std::move(received);
      }
      changed.notify_all();
    }
  };
  /// Reports an error when the last copy of the callback is destroyed.
  struct completion_guard {
    std::shared_ptr<pending_result> target;
    explicit completion_guard(std::shared_ptr<pending_result> pending) : target(std::move(pending)) {}
    completion_guard(const completion_guard&) = delete;
    completion_guard& operator=(const completion_guard&) = delete;
    ~completion_guard() { target->complete(fail(errc::internal, "The source ended the request without an answer.")); }
  };
  const auto state = std::make_shared<pending_result>();
  {
    // Destroy this function's copy of the callback before waiting.
    std::function<void(result<T>)> callback = [guard = std::make_shared<completion_guard>(state)](result<T> received) {
      guard->target->complete(std::move(received));
    };
    std::forward<Request>(request)(std::move(callback));
  }
  std::unique_lock lock(state->mutex);
  if (monotonic_clock::wait_for(state->changed, lock, timeout, [&state] { return state->outcome.has_value(); }))
    return std::move(*state->outcome);
  return fail(errc::timed_out, "No answer within " + std::to_string(timeout.count()) + " ms.");
}

/// Explains the access of the caller that `command` names. For each of its URIs, templates, tools and prompts, prints the
/// result of every access rule and the decision. `options`: those of `server`. Returns an exit code.
[[nodiscard]] int explain_access(const check_command& command, server& server, const server_options& options);

}  // namespace hondana::cli
