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

using steady_clock = monotonic_clock;

constexpr std::chrono::seconds shutdown_timeout{1};
constexpr std::chrono::seconds error_check_interval{2};
/// Silence must be reported although the log does not change.
constexpr std::chrono::minutes max_interval{5};
/// An idle thread ends after this time.
constexpr std::chrono::minutes idle_timeout{1};
/// The time limit of a summary does not apply to small logs, which may take longer on a busy machine.
constexpr std::chrono::milliseconds min_update_timeout{30'000};
/// The time reserved for the answer before the deadline of the request.
constexpr std::chrono::milliseconds deadline_margin{200};

/// Lets one log at a time compute its summary in the background. After ten seconds, it does not wait longer for a stuck one.
class background_slot {
 public:
  explicit background_slot(const std::stop_token& stop) {
    constexpr std::chrono::seconds timeout{10};
    std::unique_lock lock(mutex());
    is_acquired_ = monotonic_clock::wait_for(released(), lock, stop, timeout, [] { return !is_occupied(); });
    if (is_acquired_) is_occupied() = true;
  }
  ~background_slot() {
    if (!is_acquired_) return;
    const std::lock_guard lock(mutex());
    is_occupied() = false;
    released().notify_one();
  }
  background_slot(const background_slot&) = delete;
  background_slot& operator=(const background_slot&) = delete;

 private:
  // Never destroyed: threads that are left running may outlive static objects.
  static std::mutex& mutex() {
    static auto& instance = *new std::mutex;
    return instance;
  }
  static std::condition_variable_any& released() {
    static auto& instance = *new std::condition_variable_any;
    return instance;
  }
  static bool& is_occupied() {
    static bool occupied = false;
    return occupied;
  }
  bool is_acquired_ = false;
};

}  // namespace

struct summary_cache::state {
  state(std::shared_ptr<records::log_backend> log_source, summary_cache_options cache_options, update_handlers update_callbacks)
      : backend(std::move(log_source)), options(std::move(cache_options)), handlers(std::move(update_callbacks)) {}

  const std::shared_ptr<records::log_backend> backend;
  const summary_cache_options options;
  const update_handlers handlers;
  slice_cache slices;
  std::stop_source stop;
  std::timed_mutex update_mutex;  // one summary at a time; locked before `mutex`

  std::mutex mutex;
  std::condition_variable_any changed;
  std::shared_ptr<const log_summary> current;
  steady_clock::time_point updated_at{};
  std::optional<steady_clock::time_point> attempted_at;  // the last attempt, by any thread
  std::string version;                                   // of the log, read before the summary was computed
  std::string text_digest;                               // a digest of the summary
  std::optional<double> announced_priority;              // the priority that the last notification announced
  std::optional<steady_clock::time_point> checked_at;    // the last check for problems
  bool is_check_requested = false;
  bool is_update_requested = false;
  bool has_changed = false;
  bool watches_list = false, watches_summary = false;
  bool is_running = false;

  [[nodiscard]] std::shared_ptr<const log_summary> fresh_summary(const std::string& log_version) {
    const std::lock_guard lock(mutex);
    if (!current) return nullptr;
    const auto age = steady_clock::now() - updated_at;
    const bool is_unchanged = !log_version.empty() && log_version == version;
    return age < options.fresh_ttl || (is_unchanged && age < options.unchanged_ttl) ? current : nullptr;
  }
  [[nodiscard]] result<std::shared_ptr<const log_summary>> update(const request_context& context);
  void run();
  [[nodiscard]] std::optional<steady_clock::time_point> next_update() const;
  static void start(const std::shared_ptr<state>& shared_state);
};

result<std::shared_ptr<const log_summary>> summary_cache::state::update(const request_context& context) {
  HONDANA_TRY(auto log_version, backend->version(context));
  summary_request request;
  request.lookback = options.lookback;
  request.now = options.clock ? options.clock() : current_instant();
  request.budget.max_scanned_bytes = options.max_scanned_bytes;
  request.budget.deadline = steady_clock::now() + options.timeout;
  if (context.deadline != steady_clock::time_point::max())
    request.budget.deadline = std::min(request.budget.deadline, context.deadline - deadline_margin);
  request.cache = &slices;
  HONDANA_TRY(auto created, summarize(*backend, request, context));
  auto created_summary = std::make_shared<const log_summary>(std::move(created));
  auto digest = bytes::to_hex(bytes::digest_of(to_json(*created_summary, "")));
  bool has_new_text = false, has_new_priority = false;
  {
    const std::lock_guard lock(mutex);
    has_new_text = text_digest != digest && !text_digest.empty() && watches_summary;
    has_new_priority = !announced_priority || std::abs(*announced_priority - created_summary->priority) >= min_priority_change;
    if (has_new_priority) announced_priority = created_summary->priority;
    current = created_summary;
    updated_at = steady_clock::now();
    attempted_at = updated_at;
    version = std::move(log_version);
    text_digest = std::move(digest);
  }
  if (has_new_text && handlers.on_summary_change) handlers.on_summary_change();
  if (has_new_priority && handlers.on_priority_change) handlers.on_priority_change();
  return created_summary;
}

/// Time of the next background work. Nothing: none. Requires `mutex`.
std::optional<steady_clock::time_point> summary_cache::state::next_update() const {
  if (is_check_requested) return steady_clock::now();
  if (!attempted_at && (is_update_requested || watches_list || watches_summary)) return steady_clock::now();
  if (watches_summary && has_changed) return *attempted_at + options.change_interval;
  if (is_update_requested || watches_list) return *attempted_at + options.list_interval;
  if (watches_summary) return *attempted_at + max_interval;
  return std::nullopt;
}

void summary_cache::state::run() {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const auto update_at = next_update();
    if (!update_at) {
      if (!monotonic_clock::wait_for(changed, lock, stop.get_token(), idle_timeout,
                                     [this] { return next_update().has_value(); }))
        break;
      continue;
    }
    if (*update_at > steady_clock::now()) {
      monotonic_clock::wait_until(changed, lock, stop.get_token(), *update_at, [this, &update_at] {
        const auto next_at = next_update();
        return !next_at || *next_at < *update_at;
      });
      continue;
    }
    if (std::exchange(is_check_requested, false)) {
      lock.unlock();
      backend->check();
      if (handlers.on_check) handlers.on_check();
      lock.lock();
      continue;
    }
    // Changes from here on are for the next round.
    is_update_requested = has_changed = false;
    lock.unlock();
    const background_slot slot(stop.get_token());
    request_context context;
    context.stop = stop.get_token();
    context.deadline = steady_clock::now() + std::max(2 * options.timeout, min_update_timeout) + deadline_margin;
    if (std::unique_lock update_lock(update_mutex, context.deadline); update_lock.owns_lock()) {
      const auto log_version = backend->version(context);
      // Errors are reported to readers. If the log is unchanged, the summary is still valid.
      if (log_version && !fresh_summary(*log_version)) static_cast<void>(update(context));
    }
    lock.lock();
    attempted_at = steady_clock::now();
  }
  is_running = false;
  changed.notify_all();
}

/// Requires `mutex`.
void summary_cache::state::start(const std::shared_ptr<state>& shared_state) {
  if (shared_state->is_running || shared_state->stop.stop_requested()) return;
  const executor::signal_blocker blocker;
  try {
    std::thread([shared_state] { shared_state->run(); }).detach();
    shared_state->is_running = true;
  } catch (const std::system_error&) {
    shared_state->attempted_at = steady_clock::now();  // the next request tries again
  }
}

summary_cache::summary_cache(std::shared_ptr<records::log_backend> backend, summary_cache_options options,
                             update_handlers handlers)
    : state_(std::make_shared<state>(std::move(backend), std::move(options), std::move(handlers))) {}

summary_cache::~summary_cache() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  state_->changed.notify_all();
  monotonic_clock::wait_for(state_->changed, lock, shutdown_timeout, [this] { return !state_->is_running; });
}

result<std::shared_ptr<const log_summary>> summary_cache::get(const request_context& context) {
  HONDANA_TRY(const auto log_version, state_->backend->version(context));
  if (auto cached = state_->fresh_summary(log_version)) return cached;
  const std::unique_lock update_lock(
      state_->update_mutex,
      std::min(context.deadline, steady_clock::now() + std::max(2 * state_->options.timeout, min_update_timeout)));
  if (!update_lock.owns_lock())
    return fail(errc::timed_out, "The summary is still being computed for another request. Retry later.");
  if (auto updated = state_->fresh_summary(log_version)) return updated;
  return state_->update(context);
}

std::optional<double> summary_cache::priority() {
  const std::lock_guard lock(state_->mutex);
  const bool is_outdated = !state_->current || steady_clock::now() - state_->updated_at > state_->options.list_interval;
  if (is_outdated && !state_->is_update_requested) {
    state_->is_update_requested = true;
    state::start(state_);
    state_->changed.notify_all();
  }
  if (!state_->current) return std::nullopt;
  // Lists show the priority that was announced last.
  return state_->announced_priority;
}

void summary_cache::set_watched(bool watches_list, bool watches_summary) {
  const std::lock_guard lock(state_->mutex);
  state_->watches_list = watches_list;
  state_->watches_summary = watches_summary;
  if (watches_list || watches_summary) state::start(state_);
  state_->changed.notify_all();
}

void summary_cache::request_check() {
  const std::lock_guard lock(state_->mutex);
  const auto now = steady_clock::now();
  if (state_->checked_at && now - *state_->checked_at < error_check_interval) return;
  state_->checked_at = now;
  state_->is_check_requested = true;
  state::start(state_);
  state_->changed.notify_all();
}

void summary_cache::schedule_update() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->watches_summary || std::exchange(state_->has_changed, true)) return;
  state_->changed.notify_all();
}

}  // namespace hondana::logs
