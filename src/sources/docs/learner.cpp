/// The thread that renders.
#include "sources/docs/learner.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"
#include "base/executor/without_throwing.hpp"

namespace hondana::docs {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds farewell{1};
/// After so many documents, or so long, what is known of them is told.
constexpr std::size_t documents_a_turn = 20;
constexpr std::chrono::seconds longest_turn{5};
constexpr std::chrono::minutes longest_call{2};

}  // namespace

struct learner::state {
  explicit state(std::shared_ptr<library> from) : of(std::move(from)) {}

  const std::shared_ptr<library> of;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable left;
  bool is_running = false;
  bool is_asked = false;

  [[nodiscard]] call new_call() const {
    call made;
    made.stop = stop.get_token();
    made.deadline = clock::now() + longest_call;
    return made;
  }

  /// False: there is nothing more to do.
  bool turn() {
    const auto begun = clock::now();
    bool did_some = false;
    for (std::size_t i = 0; i < documents_a_turn && clock::now() - begun < longest_turn && !stop.stop_requested(); ++i) {
      const auto next = of->next_unknown();
      if (!next) break;
      did_some = true;
      auto text = of->text_of(*next, new_call(), true);
      // Too much is asked for just now, or others had all turns; the next who asks for a list wakes this again.
      if (!text && text.error().code == errc::overloaded) return false;
      if (!text && text.error().code != errc::cancelled) of->note_problem(*next, std::move(text.error()));
    }
    // Why it cannot be looked at now, the next who asks is told.
    return did_some && !stop.stop_requested() && of->refreshed(new_call()).has_value();
  }

  void run() {
    for (;;) {
      try {
        while (turn()) continue;
      } catch (const std::exception& problem) {
        executor::without_throwing(
            [&] { of->say(std::string("rendering documents in the background failed: ") + problem.what()); });
      }
      const std::lock_guard lock(mutex);
      if (is_asked && !stop.stop_requested()) {
        is_asked = false;
        continue;
      }
      is_running = false;
      left.notify_all();
      return;
    }
  }
};

learner::learner(std::shared_ptr<library> of) : state_(std::make_shared<state>(std::move(of))) {}

learner::~learner() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->left, lock, farewell, [this] { return !state_->is_running; });
}

std::function<void()> learner::waker() const {
  // Not the state itself: the library, which calls this, must not keep itself alive.
  return [of = std::weak_ptr(state_)] {
    const auto there = of.lock();
    if (!there || there->stop.stop_requested()) return;
    const std::lock_guard lock(there->mutex);
    if (std::exchange(there->is_asked, there->is_running)) return;
    if (there->is_running) return;
    there->is_running = true;
    const executor::signals_blocked quiet;
    std::thread([there] { there->run(); }).detach();
  };
}

}  // namespace hondana::docs
