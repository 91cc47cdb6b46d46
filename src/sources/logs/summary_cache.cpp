/// Caches the summary of a log, and refreshes it on request or in the background.
#include "sources/logs/summary_cache.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/executor/thread_guards.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/rendering.hpp"

namespace hondana::logs {
namespace {

using steady = monotonic_clock;

constexpr std::chrono::seconds farewell{1};
constexpr std::chrono::seconds between_looks{2};
/// Silence must be reported although the log does not change.
constexpr std::chrono::minutes longest_wait{5};
/// An idle thread ends after this time.
constexpr std::chrono::minutes idle_time{1};
/// The time reserved for the answer before the deadline of the request.
constexpr std::chrono::milliseconds spare_time{200};

/// Lets one log at a time compute its summary in the background. After ten seconds, it does not wait longer for a stuck one.
class turn_behind {
 public:
  explicit turn_behind(const std::stop_token& stop) {
    constexpr std::chrono::seconds patience{10};
    std::unique_lock lock(mutex());
    is_mine_ = monotonic_clock::wait_for(freed(), lock, stop, patience, [] { return !is_taken(); });
    if (is_mine_) is_taken() = true;
  }
  ~turn_behind() {
    if (!is_mine_) return;
    const std::lock_guard lock(mutex());
    is_taken() = false;
    freed().notify_one();
  }
  turn_behind(const turn_behind&) = delete;
  turn_behind& operator=(const turn_behind&) = delete;

 private:
  // Never destroyed: threads that are left running may outlive static objects.
  static std::mutex& mutex() {
    static auto& one = *new std::mutex;
    return one;
  }
  static std::condition_variable_any& freed() {
    static auto& one = *new std::condition_variable_any;
    return one;
  }
  static bool& is_taken() {
    static bool taken = false;
    return taken;
  }
  bool is_mine_ = false;
};

}  // namespace

struct summaries::state {
  state(std::shared_ptr<records::log> log, summaries_options how, listener to)
      : of(std::move(log)), with(std::move(how)), told(std::move(to)) {}

  const std::shared_ptr<records::log> of;
  const summaries_options with;
  const listener told;
  kept_slices slices;
  std::stop_source stop;
  std::timed_mutex making;  // one summary at a time; locked before `mutex`

  std::mutex mutex;
  std::condition_variable_any news;
  std::shared_ptr<const summary> made;
  steady::time_point made_at{};
  std::optional<steady::time_point> attempted;  // the last attempt, by any thread
  std::string version;                          // of the log, read before the summary was computed
  std::string text_mark;                        // a digest of the summary
  std::optional<double> announced;              // the priority that the last notification announced
  std::optional<steady::time_point> looked;     // the last check for problems
  bool is_look_wished = false;
  bool is_wished = false;
  bool is_stirred = false;
  bool has_list = false, has_summary = false;
  bool is_running = false;

  [[nodiscard]] std::shared_ptr<const summary> fresh_one(const std::string& present) {
    const std::lock_guard lock(mutex);
    if (!made) return nullptr;
    const auto age = steady::now() - made_at;
    const bool is_same = !present.empty() && present == version;
    return age < with.fresh_for || (is_same && age < with.unchanged_for) ? made : nullptr;
  }
  [[nodiscard]] result<std::shared_ptr<const summary>> make(const call& by);
  void run();
  [[nodiscard]] std::optional<steady::time_point> next_time() const;
  static void start(const std::shared_ptr<state>& self);
};

result<std::shared_ptr<const summary>> summaries::state::make(const call& by) {
  HONDANA_TRY(auto present, of->version(by));
  summary_request what;
  what.look_back = with.look_back;
  what.now = with.now ? with.now() : present_instant();
  what.most.scanned_bytes = with.scanned_bytes;
  what.most.deadline = steady::now() + with.time;
  if (by.deadline != steady::time_point::max()) what.most.deadline = std::min(what.most.deadline, by.deadline - spare_time);
  what.kept = &slices;
  HONDANA_TRY(auto counted, summarise(*of, what, by));
  auto done = std::make_shared<const summary>(std::move(counted));
  auto mark = bytes::to_hex(bytes::digest_of(json_of(*done, "")));
  bool is_news = false, is_step = false;
  {
    const std::lock_guard lock(mutex);
    is_news = text_mark != mark && !text_mark.empty() && has_summary;
    is_step = !announced || std::abs(*announced - done->priority) >= told_step;
    if (is_step) announced = done->priority;
    made = done;
    made_at = steady::now();
    attempted = made_at;
    version = std::move(present);
    text_mark = std::move(mark);
  }
  if (is_news && told.summary_changed) told.summary_changed();
  if (is_step && told.priority_changed) told.priority_changed();
  return done;
}

/// Time of the next background work. Nothing: none. Requires `mutex`.
std::optional<steady::time_point> summaries::state::next_time() const {
  if (is_look_wished) return steady::now();
  if (!attempted && (is_wished || has_list || has_summary)) return steady::now();
  if (has_summary && is_stirred) return *attempted + with.between_changes;
  if (is_wished || has_list) return *attempted + with.between;
  if (has_summary) return *attempted + longest_wait;
  return std::nullopt;
}

void summaries::state::run() {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const auto when = next_time();
    if (!when) {
      if (!monotonic_clock::wait_for(news, lock, stop.get_token(), idle_time, [this] { return next_time().has_value(); }))
        break;
      continue;
    }
    if (*when > steady::now()) {
      monotonic_clock::wait_until(news, lock, stop.get_token(), *when, [this, &when] {
        const auto other = next_time();
        return !other || *other < *when;
      });
      continue;
    }
    if (std::exchange(is_look_wished, false)) {
      lock.unlock();
      of->look();
      if (told.looked) told.looked();
      lock.lock();
      continue;
    }
    // Changes from here on are for the next round.
    is_wished = is_stirred = false;
    lock.unlock();
    const turn_behind mine(stop.get_token());
    call by;
    by.stop = stop.get_token();
    by.deadline = steady::now() + 2 * with.time + spare_time;
    if (std::unique_lock one(making, by.deadline); one.owns_lock()) {
      const auto present = of->version(by);
      // Errors are reported to readers. If the log is unchanged, the summary is still valid.
      if (present && !fresh_one(*present)) static_cast<void>(make(by));
    }
    lock.lock();
    attempted = steady::now();
  }
  is_running = false;
  news.notify_all();
}

/// Requires `mutex`.
void summaries::state::start(const std::shared_ptr<state>& self) {
  if (self->is_running || self->stop.stop_requested()) return;
  const executor::signals_blocked quiet;
  try {
    std::thread([self] { self->run(); }).detach();
    self->is_running = true;
  } catch (const std::system_error&) {
    self->attempted = steady::now();  // the next request tries again
  }
}

summaries::summaries(std::shared_ptr<records::log> of, summaries_options with, listener to)
    : state_(std::make_shared<state>(std::move(of), std::move(with), std::move(to))) {}

summaries::~summaries() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  state_->news.notify_all();
  monotonic_clock::wait_for(state_->news, lock, farewell, [this] { return !state_->is_running; });
}

result<std::shared_ptr<const summary>> summaries::get(const call& by) {
  HONDANA_TRY(const auto present, state_->of->version(by));
  if (auto known = state_->fresh_one(present)) return known;
  const std::unique_lock one(state_->making, std::min(by.deadline, steady::now() + 2 * state_->with.time));
  if (!one.owns_lock()) return fail(errc::timed_out, "The summary is still being computed for another request. Retry later.");
  if (auto known = state_->fresh_one(present)) return known;
  return state_->make(by);
}

std::optional<double> summaries::priority() {
  const std::lock_guard lock(state_->mutex);
  const bool is_old = !state_->made || steady::now() - state_->made_at > state_->with.between;
  if (is_old && !state_->is_wished) {
    state_->is_wished = true;
    state::start(state_);
    state_->news.notify_all();
  }
  if (!state_->made) return std::nullopt;
  // Lists show the priority that was announced last.
  return state_->announced;
}

void summaries::attend(bool to_list, bool to_summary) {
  const std::lock_guard lock(state_->mutex);
  state_->has_list = to_list;
  state_->has_summary = to_summary;
  if (to_list || to_summary) state::start(state_);
  state_->news.notify_all();
}

void summaries::look() {
  const std::lock_guard lock(state_->mutex);
  const auto now = steady::now();
  if (state_->looked && now - *state_->looked < between_looks) return;
  state_->looked = now;
  state_->is_look_wished = true;
  state::start(state_);
  state_->news.notify_all();
}

void summaries::stir() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->has_summary || std::exchange(state_->is_stirred, true)) return;
  state_->news.notify_all();
}

}  // namespace hondana::logs
