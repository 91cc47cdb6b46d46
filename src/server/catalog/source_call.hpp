/// Calls a source for an answer that is given exactly once, and gathers pages of several sources.
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

/// The same failure with the source's name in its text where the source itself is the reason.
[[nodiscard]] failure naming(failure why, const std::string& source_name);

[[nodiscard]] failure passed_deadline(const std::string& source_name);
[[nodiscard]] failure never_ran(const std::string& source_name);
[[nodiscard]] failure threw(const std::string& source_name, std::string what);
[[nodiscard]] failure was_cancelled();

/// An answer given by whoever comes first: the source, its deadline, or the end of a job that never ran.
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

  /// Answers, unless that has been done.
  void settle(result<T> answer) {
    if (settled_.exchange(true)) return;
    if (timers_) timers_->cancel(timer_);
    finish([&]() -> result<T> { return std::move(answer); });
  }

  /// Answers `timed_out` at `deadline`. Call once, before anything else can settle `what`.
  static void expire_at(const std::shared_ptr<owed>& what, std::shared_ptr<executor::timers> timers,
                        executor::clock::time_point deadline) {
    what->timers_ = std::move(timers);
    what->timer_ = what->timers_->at(deadline, [late = std::weak_ptr<owed>(what)] {
      // Leaves the timer's own members alone: `at` may not have returned yet.
      const auto one = late.lock();
      if (one && !one->settled_.exchange(true)) {
        one->finish([&]() -> result<T> { return tl::unexpected(passed_deadline(one->source_name_)); });
      }
    });
  }

 private:
  /// Without memory even for an error nothing more can be said here: the completion is destroyed, and with it the reply it
  /// owns, which then sends the answer made for that case in advance.
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

/// Runs `job` (a `result<T>()`, copyable, owning all it touches) on `lane` and answers through `done` exactly once.
///
/// It is not run when `by.stop` was requested or the answer was given before it could start; what it throws becomes an
/// internal error. Without `timers` nobody keeps the deadline. Callers share the lane by who they are. `account` (null: none)
/// is told when it begins and how it ends. `kind`: see `executor::lane::submit`.
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

/// The same on the source's lane. Sources that never block answer before this returns, without a deadline.
template <class T, class Job>
void ask(const source& from, const call& by, const std::shared_ptr<executor::timers>& timers, Job job, completion<T> done,
         const std::shared_ptr<asked_call>& account, executor::job_kind kind = 0) {
  const auto begin = [&](const call& within) {
    ask_on<T>(*from.lane(), from.what()->name(), within, from.never_blocks() ? nullptr : timers, std::move(job),
              std::move(done), account, kind);
  };
  from.has_deadline() ? begin(from.bounded(by)) : begin(by);
}

/// Waits for `expected` pages (at least one); the first failure is the answer to all of them. Threads: any.
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
