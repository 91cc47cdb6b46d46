/// A queue that renders documents on threads of its own, each document once for all callers.
#include "sources/docs/render_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"

namespace hondana::docs {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds last_wait{1};
constexpr std::chrono::hours longest_wait{24};
/// In addition to the renderer's own time limit.
constexpr std::chrono::seconds grace{10};
constexpr std::size_t most_failures = 256;
constexpr std::chrono::milliseconds ask_again{1000};

tl::unexpected<failure> too_many(std::string_view what) {
  failure why{errc::overloaded, "This document must be rendered first, but " + std::string(what) + ". Retry in a moment.", {}};
  why.retry = ask_again;
  return tl::unexpected(std::move(why));
}

}  // namespace

struct press::job {
  order what{};
  std::optional<text> outcome{};
  std::size_t waiting = 0;
  bool has_begun = false;
  bool is_urgent = false;
};

struct press::state {
  explicit state(const press_bounds& bounds) : within(bounds) {}

  struct failed {
    failure why;
    clock::time_point until;
  };

  const press_bounds within;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::shared_ptr<job>> jobs;  // in order of arrival, including those that have begun
  std::size_t begun = 0;
  std::size_t workers = 0;
  std::size_t calls = 0;  // waiting calls of requests
  std::map<std::string, failed> failures;

  /// Call the following members with the mutex held.
  std::shared_ptr<job> find(const order& wanted) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&wanted](const auto& one) {
      return one->what.key == wanted.key && (!one->has_begun || wanted.may_join_begun);
    });
    return found == jobs.end() ? nullptr : *found;
  }
  std::shared_ptr<job> next() {
    const auto waits = [](const auto& one) { return !one->has_begun; };
    auto found = std::find_if(jobs.begin(), jobs.end(), [&](const auto& one) { return waits(one) && one->is_urgent; });
    if (found == jobs.end()) found = std::find_if(jobs.begin(), jobs.end(), waits);
    return found == jobs.end() ? nullptr : *found;
  }
  void drop(const std::shared_ptr<job>& which) {
    const auto found = std::find(jobs.begin(), jobs.end(), which);
    if (found != jobs.end()) jobs.erase(found);
  }
  void note(const std::string& key, const failure& why) {
    const bool is_slow = why.code == errc::timed_out;
    if (!is_slow && why.code != errc::source_unavailable && why.code != errc::internal) return;
    const auto now = clock::now();
    std::erase_if(failures, [now](const auto& one) { return one.second.until <= now; });
    if (failures.size() >= most_failures) {
      const auto first = std::min_element(failures.begin(), failures.end(),
                                          [](const auto& a, const auto& b) { return a.second.until < b.second.until; });
      failures.erase(first);
    }
    failures.insert_or_assign(key, failed{why, now + (is_slow ? within.slow_for : within.failed_for)});
  }

  /// If there is no memory to record the failure, the rendering is tried again next time.
  void try_to_note(const std::string& key, const failure& why) {
    try {
      note(key, why);
    } catch (const std::bad_alloc&) {
      failures.clear();
    }
  }

  /// Starts a worker if allowed. It waits for the mutex, so it also finds jobs that are added until then.
  result<void> have_worker(const std::shared_ptr<state>& self) {
    if (workers >= within.at_once) return {};
    try {
      const executor::signals_blocked quiet;
      std::thread([self] { self->run(); }).detach();
      ++workers;
    } catch (const std::system_error& problem) {
      if (workers == 0) return fail(errc::source_unavailable, "No document can be rendered now. Retry later.", problem.what());
    }
    return {};
  }

  static text made_by(const job& of, const call& by) {
    try {
      return of.what.make(by);
    } catch (const std::bad_alloc&) {
      return fail(errc::internal, "No memory left.");  // short enough for the small string optimization
    } catch (const std::exception& problem) {
      return fail(errc::internal, "The document could not be rendered.", problem.what());
    }
  }

  void run() {
    std::unique_lock lock(mutex);
    while (const auto one = stop.stop_requested() ? nullptr : next()) {
      one->has_begun = true;
      ++begun;
      lock.unlock();
      call by;
      by.stop = stop.get_token();
      by.deadline = clock::now() + within.one + grace;
      auto outcome = made_by(*one, by);
      lock.lock();
      --begun;
      if (!outcome) try_to_note(one->what.key, outcome.error());
      one->outcome = std::move(outcome);
      // Releases the resources of the job early.
      one->what.make = nullptr;
      drop(one);
      changed.notify_all();
    }
    --workers;
    changed.notify_all();
  }
};

press::press(const press_bounds& within) : state_(std::make_shared<state>(within)) {}

press::~press() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->changed, lock, last_wait, [this] { return state_->workers == 0; });
}

press::text press::print(order what, const call& by) {
  const auto held = state_;
  auto& all = *held;
  std::unique_lock lock(all.mutex);
  if (const auto known = all.failures.find(what.key); known != all.failures.end()) {
    if (known->second.until > clock::now()) return tl::unexpected(known->second.why);
    all.failures.erase(known);
  }
  const bool is_urgent = !what.is_for_later;
  if (is_urgent && all.calls >= all.within.waiting) return too_many("too many reads wait for renderings");
  auto mine = all.find(what);
  if (!mine) {
    if (all.jobs.size() - all.begun >= all.within.queued) return too_many("too many documents are queued before it");
    HONDANA_TRY(all.have_worker(held));
    mine = std::make_shared<job>();
    mine->what = std::move(what);
    all.jobs.push_back(mine);
  }
  mine->is_urgent = mine->is_urgent || is_urgent;
  ++mine->waiting;
  if (is_urgent) ++all.calls;
  const auto until = std::min(by.deadline, clock::now() + longest_wait);
  monotonic_clock::wait_until(all.changed, lock, by.stop, until, [&] { return mine->outcome.has_value(); });
  --mine->waiting;
  if (is_urgent) --all.calls;
  if (mine->outcome) return *mine->outcome;
  if (!mine->has_begun && mine->waiting == 0) all.drop(mine);
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (mine->has_begun) {
    return fail(errc::timed_out, "The document is still being rendered. Retry: the result is cached.");
  }
  // This is not an error of the document: background rendering tries again.
  return !is_urgent ? too_many("other documents were being rendered until the deadline")
                    : fail(errc::timed_out, "Other documents were being rendered until the deadline. Retry later.");
}

}  // namespace hondana::docs
