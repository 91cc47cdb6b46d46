/// Scrapes targets on a schedule and appends their samples to the store.
#include "sources/metrics/scraping/scraper.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/metrics/scraping/scrape.hpp"

namespace hondana::scraping {
namespace {

constexpr std::chrono::milliseconds first_scrapes_window{1'000};

}  // namespace

scrape_schedule::scrape_schedule(const std::vector<std::chrono::milliseconds>& intervals, clock::time_point begin,
                                 std::size_t max_slow)
    : max_slow_(max_slow) {
  const auto count = static_cast<int>(intervals.size());
  for (int i = 0; i < count; ++i) {
    const auto interval = intervals[static_cast<std::size_t>(i)];
    const auto due_at = begin + std::min(interval, first_scrapes_window) * i / count;
    auto base = begin + interval * i / count;
    // The second scrape must not be much earlier or later than one interval after the first.
    if (base < due_at + interval / 2) base += interval;
    slots_.push_back({interval, due_at, base});
    slow_.emplace(due_at, static_cast<std::size_t>(i));
  }
}

std::optional<std::size_t> scrape_schedule::pop_due(clock::time_point now) {
  const auto is_due = [now](const queue& candidates) { return !candidates.empty() && candidates.begin()->first <= now; };
  const bool has_slow = is_due(slow_) && can_start_slow();
  if (!has_slow && !is_due(fast_)) return std::nullopt;
  auto& chosen = has_slow && (!is_due(fast_) || slow_.begin()->first < fast_.begin()->first) ? slow_ : fast_;
  const auto index = chosen.begin()->second;
  chosen.erase(chosen.begin());
  if (slots_[index].is_slow) ++running_slow_;
  return index;
}

std::optional<scrape_schedule::clock::time_point> scrape_schedule::next_due() const {
  std::optional<clock::time_point> out;
  if (!fast_.empty()) out = fast_.begin()->first;
  if (!slow_.empty() && can_start_slow()) out = out ? std::min(*out, slow_.begin()->first) : slow_.begin()->first;
  return out;
}

void scrape_schedule::finish(std::size_t index, bool was_slow, clock::time_point now) {
  auto& slot = slots_[index];
  if (slot.is_slow) --running_slow_;
  slot.is_slow = was_slow;
  slot.due_at = slot.base;
  if (slot.due_at <= now) slot.due_at += ((now - slot.due_at) / slot.interval + 1) * slot.interval;
  queue_of(slot).emplace(slot.due_at, index);
}

namespace {

using steady = monotonic_clock;

constexpr std::size_t max_threads = 4;
constexpr std::size_t max_slow_targets = 3;
constexpr std::chrono::seconds slow_time{1};
constexpr std::chrono::milliseconds min_interval{10};
constexpr series::duration max_clock_step = 1'000;

series::instant system_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct scraper::state {
  struct target_entry {
    target config;
    target_state status{};
    previous_series previous{};
    std::optional<series::instant> last_stored{};
    bool is_ahead = false;  // the last stored sample is ahead of the clock
    bool was_scraped = false;
    bool is_over_limit = false;  // the store has ignored some of its series
    std::mutex scrape_mutex{};
  };

  scraper_environment environment;
  std::vector<std::unique_ptr<target_entry>> targets{};
  scrape_listener on_scrape{};
  std::function<void(std::string_view)> log{};

  mutable std::mutex mutex{};  // guards all that follows, and `target_entry::status`
  std::condition_variable_any changed{};
  std::optional<scrape_schedule> schedule{};
  bool is_store_failing = false;
  std::size_t ahead_count = 0;  // number of targets that are ahead of the clock
  std::vector<std::jthread> threads{};

  void write_log(const std::string& line) const {
    if (log) log(line);
  }
  void run(const std::stop_token& stop);
  std::chrono::microseconds scrape_target(target_entry& entry, const std::stop_token& stop);
  bool can_store(target_entry& entry, series::instant time);
  void report_store(const result<samples::append_result>& outcome);
  std::string report_omitted(target_entry& entry, std::size_t count) const;
  void report_target(target_entry& entry, const scrape_result& outcome, series::instant time, const std::string& error);
};

void scraper::state::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const auto index = schedule->pop_due(steady::now());
    if (!index) {
      const auto due_at = schedule->next_due();
      const auto has_changed = [&] { return schedule->next_due() != due_at; };
      if (due_at) {
        monotonic_clock::wait_until(changed, lock, stop, *due_at, has_changed);
      } else {
        changed.wait(lock, stop, has_changed);
      }
      continue;
    }
    lock.unlock();
    auto duration = std::chrono::microseconds::zero();
    try {
      duration = scrape_target(*targets[*index], stop);
    } catch (const std::exception& error) {
      executor::run_noexcept([&] {
        write_log("target " + targets[*index]->config.job + ' ' + targets[*index]->config.instance +
                  ": this scrape failed: " + error.what());
      });
    }
    lock.lock();
    schedule->finish(*index, duration >= slow_time, steady::now());
    changed.notify_all();
  }
}

/// Returns false while the clock is behind the last stored scrape.
bool scraper::state::can_store(target_entry& entry, series::instant time) {
  const bool is_ahead = entry.last_stored && time <= *entry.last_stored;
  if (is_ahead == entry.is_ahead) return !is_ahead;
  entry.is_ahead = is_ahead;
  bool is_change = false;
  {
    const std::lock_guard lock(mutex);
    is_change = is_ahead ? ahead_count++ == 0 : --ahead_count == 0;
  }
  if (is_change)
    write_log(is_ahead ? "the clock went backwards; no samples are stored until it has caught up"
                       : "the clock has caught up; samples are stored again");
  return !is_ahead;
}

void scraper::state::report_store(const result<samples::append_result>& outcome) {
  {
    const std::lock_guard lock(mutex);
    if (is_store_failing == !outcome) return;
    is_store_failing = !outcome;
  }
  write_log(outcome ? "samples are stored again"
                    : "samples cannot be stored: " + outcome.error().public_text +
                          (outcome.error().private_text.empty() ? "" : " (" + outcome.error().private_text + ')'));
}

/// An error text for samples that the store has no capacity for. Empty if there are none.
std::string scraper::state::report_omitted(target_entry& entry, std::size_t count) const {
  const bool is_change = std::exchange(entry.is_over_limit, count > 0) != entry.is_over_limit && count > 0;
  if (count == 0) return {};
  auto out = std::to_string(count) +
             " of its samples are left out: the store has reached max_series, or series have too many labels; raise "
             "max_series, or scrape fewer series";
  if (is_change) write_log("target " + entry.config.job + ' ' + entry.config.instance + ": " + out);
  return out;
}

void scraper::state::report_target(target_entry& entry, const scrape_result& outcome, series::instant time,
                                   const std::string& error) {
  const bool is_change = entry.was_scraped ? entry.status.is_up != outcome.is_up : !outcome.is_up;
  entry.was_scraped = true;
  {
    const std::lock_guard lock(mutex);
    entry.status.is_up = outcome.is_up;
    entry.status.last_error = error;
    entry.status.last_scrape = time;
    entry.status.duration = outcome.duration;
    entry.status.samples = outcome.samples;
  }
  if (is_change)
    write_log("target " + entry.config.job + ' ' + entry.config.instance +
              (outcome.is_up ? " is up again" : " is down: " + outcome.error));
}

std::chrono::microseconds scraper::state::scrape_target(target_entry& entry, const std::stop_token& stop) {
  const std::lock_guard scrape_lock(entry.scrape_mutex);
  auto time = environment.now();
  // A clock that was set back by a moment should not lose a scrape.
  if (entry.last_stored && time <= *entry.last_stored && *entry.last_stored - time < max_clock_step)
    time = *entry.last_stored + 1;
  samples::batch batch;
  const auto outcome = scrape(entry.config, time, stop, batch);
  if (outcome.is_cancelled || stop.stop_requested()) return outcome.duration;
  auto error = outcome.error;
  bool is_stored = false;
  if (can_store(entry, time)) {
    entry.previous.mark_stale(batch, scrape_entries, time);
    const auto stored = environment.append(batch);
    report_store(stored);
    is_stored = stored.has_value();
    const auto problem =
        stored ? report_omitted(entry, stored->over_limit) : "its samples cannot be stored: " + stored.error().public_text;
    if (!problem.empty()) error += (error.empty() ? "" : "; ") + problem;
  } else {
    error += error.empty() ? "its samples are not stored, since the clock went backwards" : "";
  }
  report_target(entry, outcome, time, error);
  if (!is_stored) return outcome.duration;
  entry.last_stored = time;
  entry.previous.replace(std::move(batch), scrape_entries, time);
  if (!on_scrape) return outcome.duration;
  target_state current;
  {
    const std::lock_guard lock(mutex);
    current = entry.status;
  }
  on_scrape(current, time);
  return outcome.duration;
}

scraper::scraper(std::shared_ptr<samples::store> store, std::vector<target> targets, scrape_listener on_scrape,
                 std::function<void(std::string_view)> log)
    : scraper(
          scraper_environment{
              [destination = std::move(store)](const samples::batch& batch) { return destination->append(batch); }, {}},
          std::move(targets), std::move(on_scrape), std::move(log)) {}

scraper::scraper(scraper_environment environment, std::vector<target> targets, scrape_listener on_scrape,
                 std::function<void(std::string_view)> log)
    : state_(std::make_unique<state>()) {
  state_->environment = std::move(environment);
  if (!state_->environment.now) state_->environment.now = system_now;
  state_->on_scrape = std::move(on_scrape);
  state_->log = std::move(log);
  for (auto& target : targets) {
    auto entry = std::make_unique<state::target_entry>();
    target.interval = std::max(target.interval, min_interval);
    target.timeout = std::min(target.timeout, target.interval);
    entry->status.job = target.job;
    entry->status.instance = target.instance;
    entry->status.interval = target.interval;
    if (target.server) entry->status.url = target.server->url();
    entry->config = std::move(target);
    state_->targets.push_back(std::move(entry));
  }
}

scraper::~scraper() { stop(); }

void scraper::start() {
  if (!state_->threads.empty() || state_->targets.empty()) return;
  std::vector<std::chrono::milliseconds> intervals;
  for (const auto& entry : state_->targets) intervals.push_back(entry->config.interval);
  const auto count = std::min(max_threads, intervals.size());
  state_->schedule.emplace(intervals, steady::now(), std::min(max_slow_targets, count));
  const executor::signal_blocker blocked;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      state_->threads.emplace_back([running = state_.get()](const std::stop_token& stop) { running->run(stop); });
    } catch (const std::system_error& error) {
      state_->write_log("only " + std::to_string(i) + " threads could be started for scraping: " + error.what());
      break;
    }
  }
}

void scraper::stop() {
  for (auto& thread : state_->threads) thread.request_stop();
  state_->threads.clear();
}

std::vector<target_state> scraper::targets() const {
  std::vector<target_state> out;
  const std::lock_guard lock(state_->mutex);
  for (const auto& entry : state_->targets) out.push_back(entry->status);
  return out;
}

void scraper::scrape_once() {
  for (const auto& entry : state_->targets) static_cast<void>(state_->scrape_target(*entry, {}));
}

}  // namespace hondana::scraping
