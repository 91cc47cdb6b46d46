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

/// Calls `ask` with a callback and blocks until the callback is called. The callback may be called from any thread, now or
/// later.
/// Errors: those of the answer; timed_out without an answer within `most`; internal if the callback is destroyed without being
/// called.
template <class T, class Ask>
[[nodiscard]] result<T> one_answer(std::chrono::milliseconds most, Ask&& ask) {
  struct kept {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<result<T>> answer;

    void put(result<T> what) {
      {
        const std::lock_guard lock(mutex);
        if (!answer) answer = std::move(what);
      }
      changed.notify_all();
    }
  };
  /// Reports an error when the last copy of the callback is destroyed.
  struct taker {
    std::shared_ptr<kept> to;
    explicit taker(std::shared_ptr<kept> where) : to(std::move(where)) {}
    taker(const taker&) = delete;
    taker& operator=(const taker&) = delete;
    ~taker() { to->put(fail(errc::internal, "The source ended the request without an answer.")); }
  };
  const auto state = std::make_shared<kept>();
  {
    // Destroy this function's copy of the callback before waiting.
    std::function<void(result<T>)> done = [by = std::make_shared<taker>(state)](result<T> what) {
      by->to->put(std::move(what));
    };
    std::forward<Ask>(ask)(std::move(done));
  }
  std::unique_lock lock(state->mutex);
  if (monotonic_clock::wait_for(state->changed, lock, most, [&state] { return state->answer.has_value(); }))
    return std::move(*state->answer);
  return fail(errc::timed_out, "No answer within " + std::to_string(most.count()) + " ms.");
}

/// Explains the access of the caller that `what` names. For each of its URIs, templates, tools and prompts, prints the result
/// of every access rule and the decision.
/// Returns an exit code.
[[nodiscard]] int explain(const check_command& what, server& of, const server_options& options);

}  // namespace hondana::cli
