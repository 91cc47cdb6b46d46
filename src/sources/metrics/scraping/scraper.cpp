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

constexpr std::chrono::milliseconds first_ones{1'000};

}  // namespace

rota::rota(const std::vector<std::chrono::milliseconds>& every, clock::time_point begin, std::size_t most_slow)
    : most_slow_(most_slow) {
  const auto count = static_cast<int>(every.size());
  for (int i = 0; i < count; ++i) {
    const auto whole = every[static_cast<std::size_t>(i)];
    const auto due = begin + std::min(whole, first_ones) * i / count;
    auto base = begin + whole * i / count;
    // The second scrape must not be much earlier or later than one interval after the first.
    if (base < due + whole / 2) base += whole;
    turns_.push_back({whole, due, base});
    slow_.emplace(due, static_cast<std::size_t>(i));
  }
}

std::optional<std::size_t> rota::take(clock::time_point now) {
  const auto is_due = [now](const queue& all) { return !all.empty() && all.begin()->first <= now; };
  const bool has_slow = is_due(slow_) && may_take_slow();
  if (!has_slow && !is_due(quick_)) return std::nullopt;
  auto& from = has_slow && (!is_due(quick_) || slow_.begin()->first < quick_.begin()->first) ? slow_ : quick_;
  const auto which = from.begin()->second;
  from.erase(from.begin());
  if (turns_[which].is_slow) ++slow_under_way_;
  return which;
}

std::optional<rota::clock::time_point> rota::next_due() const {
  std::optional<clock::time_point> out;
  if (!quick_.empty()) out = quick_.begin()->first;
  if (!slow_.empty() && may_take_slow()) out = out ? std::min(*out, slow_.begin()->first) : slow_.begin()->first;
  return out;
}

void rota::done(std::size_t which, bool was_slow, clock::time_point now) {
  auto& one = turns_[which];
  if (one.is_slow) --slow_under_way_;
  one.is_slow = was_slow;
  one.due = one.base;
  if (one.due <= now) one.due += ((now - one.due) / one.every + 1) * one.every;
  queue_of(one).emplace(one.due, which);
}

namespace {

using steady = monotonic_clock;

constexpr std::size_t most_threads = 4;
constexpr std::size_t most_slow_at_once = 3;
constexpr std::chrono::seconds slow_time{1};
constexpr std::chrono::milliseconds shortest_interval{10};
constexpr series::duration harmless_step = 1'000;

series::instant system_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct scraper::state {
  struct kept_target {
    target of;
    target_state how{};
    standing_series standing{};
    std::optional<series::instant> last_kept{};
    bool is_ahead = false;  // the last stored sample is ahead of the clock
    bool was_asked = false;
    bool is_crowded = false;  // the store has ignored some of its series
    std::mutex one_at_a_time{};
  };

  surroundings within;
  std::vector<std::unique_ptr<kept_target>> targets{};
  scrape_hearer hears{};
  std::function<void(std::string_view)> log{};

  mutable std::mutex mutex{};  // guards all that follows, and `how`
  std::condition_variable_any changed{};
  std::optional<rota> turns{};
  bool store_fails = false;
  std::size_t ahead = 0;  // number of targets that are ahead of the clock
  std::vector<std::jthread> threads{};

  void say(const std::string& line) const {
    if (log) log(line);
  }
  void run(const std::stop_token& stop);
  std::chrono::microseconds scrape_one(kept_target& one, const std::stop_token& stop);
  bool may_keep(kept_target& one, series::instant at);
  void note_store(const result<samples::appended>& how);
  std::string note_left_out(kept_target& one, std::size_t count) const;
  void note_target(kept_target& one, const scraped& how, series::instant at, const std::string& error);
};

void scraper::state::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const auto which = turns->take(steady::now());
    if (!which) {
      const auto due = turns->next_due();
      const auto is_early = [&] { return turns->next_due() != due; };
      if (due) {
        monotonic_clock::wait_until(changed, lock, stop, *due, is_early);
      } else {
        changed.wait(lock, stop, is_early);
      }
      continue;
    }
    lock.unlock();
    auto took = std::chrono::microseconds::zero();
    try {
      took = scrape_one(*targets[*which], stop);
    } catch (const std::exception& error) {
      executor::without_throwing([&] {
        say("target " + targets[*which]->of.job + ' ' + targets[*which]->of.instance + ": this scrape failed: " + error.what());
      });
    }
    lock.lock();
    turns->done(*which, took >= slow_time, steady::now());
    changed.notify_all();
  }
}

/// Returns false while the clock is behind the last stored scrape.
bool scraper::state::may_keep(kept_target& one, series::instant at) {
  const bool is_ahead = one.last_kept && at <= *one.last_kept;
  if (is_ahead == one.is_ahead) return !is_ahead;
  one.is_ahead = is_ahead;
  bool is_news = false;
  {
    const std::lock_guard lock(mutex);
    is_news = is_ahead ? ahead++ == 0 : --ahead == 0;
  }
  if (is_news)
    say(is_ahead ? "the clock went backwards; no samples are stored until it has caught up"
                 : "the clock has caught up; samples are stored again");
  return !is_ahead;
}

void scraper::state::note_store(const result<samples::appended>& how) {
  {
    const std::lock_guard lock(mutex);
    if (store_fails == !how) return;
    store_fails = !how;
  }
  say(how ? "samples are stored again"
          : "samples cannot be stored: " + how.error().public_text +
                (how.error().private_text.empty() ? "" : " (" + how.error().private_text + ')'));
}

/// An error text for samples that the store has no capacity for. Empty if there are none.
std::string scraper::state::note_left_out(kept_target& one, std::size_t count) const {
  const bool is_news = std::exchange(one.is_crowded, count > 0) != one.is_crowded && count > 0;
  if (count == 0) return {};
  auto out = std::to_string(count) +
             " of its samples are left out: the store has reached max_series, or series have too many labels; raise "
             "max_series, or scrape fewer series";
  if (is_news) say("target " + one.of.job + ' ' + one.of.instance + ": " + out);
  return out;
}

void scraper::state::note_target(kept_target& one, const scraped& how, series::instant at, const std::string& error) {
  const bool is_news = one.was_asked ? one.how.is_up != how.is_up : !how.is_up;
  one.was_asked = true;
  {
    const std::lock_guard lock(mutex);
    one.how.is_up = how.is_up;
    one.how.last_error = error;
    one.how.last_scrape = at;
    one.how.took = how.took;
    one.how.samples = how.samples;
  }
  if (is_news) say("target " + one.of.job + ' ' + one.of.instance + (how.is_up ? " is up again" : " is down: " + how.error));
}

std::chrono::microseconds scraper::state::scrape_one(kept_target& one, const std::stop_token& stop) {
  const std::lock_guard only(one.one_at_a_time);
  auto at = within.now();
  // A clock that was set back by a moment should not lose a scrape.
  if (one.last_kept && at <= *one.last_kept && *one.last_kept - at < harmless_step) at = *one.last_kept + 1;
  samples::batch batch;
  const auto how = scrape(one.of, at, stop, batch);
  if (how.is_cancelled || stop.stop_requested()) return how.took;
  auto error = how.error;
  bool is_kept = false;
  if (may_keep(one, at)) {
    one.standing.mark_ended(batch, own_entries, at);
    const auto kept = within.keeps(batch);
    note_store(kept);
    is_kept = kept.has_value();
    const auto trouble =
        kept ? note_left_out(one, kept->too_many) : "its samples cannot be stored: " + kept.error().public_text;
    if (!trouble.empty()) error += (error.empty() ? "" : "; ") + trouble;
  } else {
    error += error.empty() ? "its samples are not stored, since the clock went backwards" : "";
  }
  note_target(one, how, at, error);
  if (!is_kept) return how.took;
  one.last_kept = at;
  one.standing.replace(std::move(batch), own_entries, at);
  if (!hears) return how.took;
  target_state said;
  {
    const std::lock_guard lock(mutex);
    said = one.how;
  }
  hears(said, at);
  return how.took;
}

scraper::scraper(std::shared_ptr<samples::store> into, std::vector<target> targets, scrape_hearer hears,
                 std::function<void(std::string_view)> log)
    : scraper(surroundings{[into = std::move(into)](const samples::batch& what) { return into->append(what); }, {}},
              std::move(targets), std::move(hears), std::move(log)) {}

scraper::scraper(surroundings within, std::vector<target> targets, scrape_hearer hears,
                 std::function<void(std::string_view)> log)
    : state_(std::make_unique<state>()) {
  state_->within = std::move(within);
  if (!state_->within.now) state_->within.now = system_now;
  state_->hears = std::move(hears);
  state_->log = std::move(log);
  for (auto& one : targets) {
    auto kept = std::make_unique<state::kept_target>();
    one.every = std::max(one.every, shortest_interval);
    one.time = std::min(one.time, one.every);
    kept->how.job = one.job;
    kept->how.instance = one.instance;
    kept->how.every = one.every;
    if (one.at) kept->how.url = one.at->url();
    kept->of = std::move(one);
    state_->targets.push_back(std::move(kept));
  }
}

scraper::~scraper() { stop(); }

void scraper::start() {
  if (!state_->threads.empty() || state_->targets.empty()) return;
  std::vector<std::chrono::milliseconds> every;
  for (const auto& one : state_->targets) every.push_back(one->of.every);
  const auto count = std::min(most_threads, every.size());
  state_->turns.emplace(every, steady::now(), std::min(most_slow_at_once, count));
  const executor::signals_blocked blocked;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      state_->threads.emplace_back([it = state_.get()](const std::stop_token& stop) { it->run(stop); });
    } catch (const std::system_error& error) {
      state_->say("only " + std::to_string(i) + " threads could be started for scraping: " + error.what());
      break;
    }
  }
}

void scraper::stop() {
  for (auto& one : state_->threads) one.request_stop();
  state_->threads.clear();
}

std::vector<target_state> scraper::targets() const {
  std::vector<target_state> out;
  const std::lock_guard lock(state_->mutex);
  for (const auto& one : state_->targets) out.push_back(one->how);
  return out;
}

void scraper::scrape_once() {
  for (const auto& one : state_->targets) static_cast<void>(state_->scrape_one(*one, {}));
}

}  // namespace hondana::scraping
