/// Calls a source with exactly one answer, and gathers pages of several sources.
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

/// Adds the source's name to the text of a failure that the source itself caused.
[[nodiscard]] failure naming(failure why, const std::string& source_name);

[[nodiscard]] failure passed_deadline(const std::string& source_name);
[[nodiscard]] failure never_ran(const std::string& source_name);
[[nodiscard]] failure threw(const std::string& source_name, std::string what);
[[nodiscard]] failure was_cancelled();

/// A promise of an answer. The first of these settles it: the source, its deadline, or the destruction of a job that never ran.
///
/// Shared by the job and, weakly, by the deadline's timer. Threads: any.
template <class T>
class owed {
 public:
  owed(completion<T> done, std::string source_name) : done_(std::move(done)), source_name_(std::move(source_name)) {}
  owed(const owed&) = delete;
  owed& operator=(const owed&) = delete;
  ~owed() {
    if (!settled_.exchange(true)) finish([this]() -> result<T> { return tl::unexpected(never_ran(source_name_)); });
  }

  [[nodiscard]] bool is_settled() const noexcept { return settled_; }
  [[nodiscard]] const std::string& source_name() const noexcept { return source_name_; }

  /// Answers, unless there is an answer already.
  void settle(result<T> answer) {
    if (settled_.exchange(true)) return;
    if (timers_) timers_->cancel(timer_);
    finish([&]() -> result<T> { return std::move(answer); });
  }

  /// Starts a timer that answers `timed_out` at `deadline`. Call it once, before the job is submitted.
  static void expire_at(const std::shared_ptr<owed>& what, std::shared_ptr<executor::timers> timers,
                        executor::clock::time_point deadline) {
    what->timers_ = std::move(timers);
    what->timer_ = what->timers_->at(deadline, [late = std::weak_ptr<owed>(what)] {
      // Does not access the timer members: `at` may not have returned yet.
      const auto one = late.lock();
      if (one && !one->settled_.exchange(true)) {
        one->finish([&]() -> result<T> { return tl::unexpected(passed_deadline(one->source_name_)); });
      }
    });
  }

 private:
  /// If there is no memory even for an error, the completion is destroyed. It owns a reply, which then sends a prepared error.
  template <class Make>
  void finish(Make answer) noexcept {
    const auto done = std::exchange(done_, {});
    executor::without_throwing([&] { done(answer()); });
  }

  completion<T> done_;
  std::string source_name_;
  std::atomic<bool> settled_{false};
  std::shared_ptr<executor::timers> timers_;
  executor::timers::id timer_ = 0;
};

/// Runs `job` (a copyable `result<T>()` that owns its data) on `lane`, and answers through `done` exactly once.
///
/// The job is skipped if `by.stop` was requested or the answer exists before it starts. An exception becomes an internal error.
/// Without `timers`, no deadline is enforced. Callers share the queue fairly by identity. `account` (null: none) records the
/// start and the outcome. `kind`: see `executor::lane::submit`.
template <class T, class Job>
void ask_on(executor::lane& lane, std::string name, const call& by, std::shared_ptr<executor::timers> timers, Job job,
            completion<T> done, const std::shared_ptr<asked_call>& account = nullptr, executor::job_kind kind = 0) {
  const auto answer = std::make_shared<owed<T>>(std::move(done), std::move(name));
  if (timers && by.deadline != executor::clock::time_point::max()) owed<T>::expire_at(answer, std::move(timers), by.deadline);
  const auto accepted = lane.submit(
      [answer, stop = by.stop, job = std::move(job), account]() mutable {
        if (answer->is_settled()) {
          if (account) account->end(errc::timed_out);
          return;
        }
        if (stop.stop_requested()) return answer->settle(tl::unexpected(was_cancelled()));
        result<T> found = tl::unexpected(failure{});
        if (account) account->begin();
        try {
          found = job();
        } catch (const std::exception& error) {
          found = tl::unexpected(threw(answer->source_name(), error.what()));
        } catch (...) {
          found = tl::unexpected(threw(answer->source_name(), "not a std::exception"));
        }
        if (account) account->end(found ? std::nullopt : std::optional(found.error().code));
        if (!found) found = tl::unexpected(naming(std::move(found.error()), answer->source_name()));
        answer->settle(std::move(found));
      },
      by.deadline, executor::urgency::request, rate_limit::share_of(by.who), kind);
  if (accepted) return;
  if (account) account->end(accepted.error().code);
  answer->settle(tl::unexpected(accepted.error()));
}

/// The same on the source's work queue. Sources that never block answer before this returns, without a deadline timer.
template <class T, class Job>
void ask(const source& from, const call& by, const std::shared_ptr<executor::timers>& timers, Job job, completion<T> done,
         const std::shared_ptr<asked_call>& account, executor::job_kind kind = 0) {
  const auto begin = [&](const call& within) {
    ask_on<T>(*from.lane(), from.what()->name(), within, from.never_blocks() ? nullptr : timers, std::move(job),
              std::move(done), account, kind);
  };
  from.has_deadline() ? begin(from.bounded(by)) : begin(by);
}

/// Gathers `expected` pages (at least one). The first failure becomes the answer for all. Threads: any.
template <class Page>
class gathering {
 public:
  using pages = std::vector<Page>;

  gathering(std::size_t expected, completion<pages> done) : left_(expected), pages_(expected), done_(std::move(done)) {}

  void take(std::size_t place, result<Page> page) {
    std::unique_lock lock(mutex_);
    if (!done_) return;
    if (page) {
      pages_[place] = std::move(*page);
      if (--left_ != 0) return;
    }
    const auto done = std::exchange(done_, {});
    auto gathered = page ? result<pages>(std::move(pages_)) : tl::unexpected(std::move(page.error()));
    lock.unlock();
    done(std::move(gathered));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  pages pages_;
  completion<pages> done_;
};

}  // namespace hondana::catalog
