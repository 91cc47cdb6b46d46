/// Calls a source so that it answers exactly once, and collects pages of several sources.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "base/executor/thread_guards.hpp"
#include "base/executor/thread_pool.hpp"
#include "base/executor/timers.hpp"
#include "base/rate_limit/rate_limiter.hpp"
#include "server/catalog/catalog.hpp"

namespace hondana::catalog {

/// Adds the source's name to the public text of a failure that the source itself caused. Other failures do not change.
[[nodiscard]] failure add_source_name(failure error, const std::string& source_name);

/// The failure of a source that did not answer by the deadline.
[[nodiscard]] failure deadline_error(const std::string& source_name);
/// The failure of a job that was dropped before it started.
[[nodiscard]] failure not_started_error(const std::string& source_name);
/// The failure of a source that threw an exception. `message`: its text, for the log only.
[[nodiscard]] failure exception_error(const std::string& source_name, std::string message);
/// The failure of a request that the client cancelled.
[[nodiscard]] failure cancelled_error();

/// Passes the answer to one call of a source to its callback, exactly once. The first of these answers: the source, its
/// deadline, or the destruction of a job that never ran.
///
/// The job owns this object, and the deadline's timer refers to it weakly. Threads: any.
template <class T>
class pending_answer {
 public:
  pending_answer(completion<T> callback, std::string source_name)
      : callback_(std::move(callback)), source_name_(std::move(source_name)) {}
  pending_answer(const pending_answer&) = delete;
  pending_answer& operator=(const pending_answer&) = delete;
  ~pending_answer() {
    if (!is_resolved_.exchange(true)) finish([this]() -> result<T> { return tl::unexpected(not_started_error(source_name_)); });
  }

  [[nodiscard]] bool is_resolved() const noexcept { return is_resolved_; }
  [[nodiscard]] const std::string& source_name() const noexcept { return source_name_; }

  /// Passes `answer` to the callback, unless it was called already.
  void resolve(result<T> answer) {
    if (is_resolved_.exchange(true)) return;
    if (timers_) timers_->cancel(timer_);
    finish([&]() -> result<T> { return std::move(answer); });
  }

  /// Starts a timer that answers with `deadline_error` at `deadline`. Call it once, before the job is submitted.
  static void expire_at(const std::shared_ptr<pending_answer>& pending, std::shared_ptr<executor::timers> timers,
                        executor::clock::time_point deadline) {
    pending->timers_ = std::move(timers);
    pending->timer_ = pending->timers_->schedule(deadline, [weak = std::weak_ptr<pending_answer>(pending)] {
      // Does not access the timer members: `schedule` may not have returned yet.
      const auto expired = weak.lock();
      if (expired && !expired->is_resolved_.exchange(true)) {
        expired->finish([&]() -> result<T> { return tl::unexpected(deadline_error(expired->source_name_)); });
      }
    });
  }

 private:
  /// Calls the callback with the answer. If memory is exhausted, only destroys the callback, which owns a reply that then sends
  /// a prepared error.
  template <class MakeAnswer>
  void finish(MakeAnswer make_answer) noexcept {
    const auto callback = std::exchange(callback_, {});
    executor::run_noexcept([&] { callback(make_answer()); });
  }

  completion<T> callback_;
  std::string source_name_;
  std::atomic<bool> is_resolved_{false};
  std::shared_ptr<executor::timers> timers_;
  executor::timers::id timer_ = 0;
};

/// Runs `job` on `executor`, and passes its result to `callback` exactly once. `job` is a copyable function that returns
/// `result<T>` and owns its data. `name`: of the source, for error texts.
///
/// The job does not run if `context.stop` was requested or the deadline has passed before it starts. An exception becomes an
/// internal error. Null `timers`: no deadline is enforced. Callers share the queue fairly by identity. `record`: records start
/// and outcome of the job; null: none. `kind`: see `executor::executor::submit`.
template <class T, class Job>
void run_on(executor::executor& executor, std::string name, const request_context& context,
            std::shared_ptr<executor::timers> timers, Job job, completion<T> callback,
            const std::shared_ptr<call_record>& record = nullptr, executor::job_kind kind = 0) {
  const auto answer = std::make_shared<pending_answer<T>>(std::move(callback), std::move(name));
  if (timers && context.deadline != executor::clock::time_point::max())
    pending_answer<T>::expire_at(answer, std::move(timers), context.deadline);
  const auto accepted = executor.submit(
      [answer, stop = context.stop, job = std::move(job), record]() mutable {
        if (answer->is_resolved()) {
          if (record) record->end(errc::timed_out);
          return;
        }
        if (stop.stop_requested()) return answer->resolve(tl::unexpected(cancelled_error()));
        result<T> outcome = tl::unexpected(failure{});
        if (record) record->begin();
        try {
          outcome = job();
        } catch (const std::exception& error) {
          outcome = tl::unexpected(exception_error(answer->source_name(), error.what()));
        } catch (...) {
          outcome = tl::unexpected(exception_error(answer->source_name(), "not a std::exception"));
        }
        if (record) record->end(outcome ? std::nullopt : std::optional(outcome.error().code));
        if (!outcome) outcome = tl::unexpected(add_source_name(std::move(outcome.error()), answer->source_name()));
        answer->resolve(std::move(outcome));
      },
      context.deadline, executor::job_priority::request, rate_limit::queue_key_of(context.caller), kind);
  if (accepted) return;
  if (record) record->end(accepted.error().code);
  answer->resolve(tl::unexpected(accepted.error()));
}

/// Runs `job` as `run_on` does, on the executor of `source` and within its call timeout. A source that never blocks answers
/// before this returns, without a deadline timer.
template <class T, class Job>
void call_source(const source& source, const request_context& context, const std::shared_ptr<executor::timers>& timers, Job job,
                 completion<T> callback, const std::shared_ptr<call_record>& record, executor::job_kind kind = 0) {
  const auto start = [&](const request_context& bounded) {
    run_on<T>(*source.executor(), source.get_provider()->name(), bounded, source.never_blocks() ? nullptr : timers,
              std::move(job), std::move(callback), record, kind);
  };
  source.has_call_timeout() ? start(source.bounded(context)) : start(context);
}

/// Collects one page from each of several sources, and calls back once: with all pages, or at once with the first failure.
/// Threads: any.
template <class Page>
class page_collector {
 public:
  using page_list = std::vector<Page>;

  /// `expected`: number of pages, at least 1.
  page_collector(std::size_t expected, completion<page_list> callback)
      : remaining_(expected), pages_(expected), callback_(std::move(callback)) {}

  /// Adds the page with this position (from 0), or the failure that took its place.
  void accept(std::size_t position, result<Page> page) {
    std::unique_lock lock(mutex_);
    if (!callback_) return;
    if (page) {
      pages_[position] = std::move(*page);
      if (--remaining_ != 0) return;
    }
    const auto callback = std::exchange(callback_, {});
    auto collected = page ? result<page_list>(std::move(pages_)) : tl::unexpected(std::move(page.error()));
    lock.unlock();
    callback(std::move(collected));
  }

 private:
  std::mutex mutex_;
  std::size_t remaining_;
  page_list pages_;
  completion<page_list> callback_;
};

}  // namespace hondana::catalog
