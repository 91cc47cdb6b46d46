/// Scrapes targets on a schedule and appends their samples to the store.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/samples/store.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::scraping {

/// Decides which target to scrape next. Limits how many slow targets are scraped at once, so that they do not occupy all
/// threads. Threads: one at a time.
class scrape_schedule {
 public:
  using clock = monotonic_clock;

  /// `intervals`: one for each target. `max_slow`: how many slow targets may be scraped at once. A target counts as slow until
  /// its first scrape.
  scrape_schedule(const std::vector<std::chrono::milliseconds>& intervals, clock::time_point begin, std::size_t max_slow);

  /// Returns the index of a target that is due, which then counts as being scraped. nullopt: none; wait until `next_due`.
  [[nodiscard]] std::optional<std::size_t> pop_due(clock::time_point now);
  /// Returns when the next target is due. nullopt: not before a running scrape has ended.
  [[nodiscard]] std::optional<clock::time_point> next_due() const;
  /// Must be called at the end of each scrape. Skips scrapes that were missed before `now`.
  void finish(std::size_t index, bool was_slow, clock::time_point now);

 private:
  struct target_slot {
    std::chrono::milliseconds interval;
    clock::time_point due_at;  // of the next scrape
    clock::time_point base;    // of the second scrape; later ones follow at intervals from here
    bool is_slow = true;
  };
  using queue = std::set<std::pair<clock::time_point, std::size_t>>;
  [[nodiscard]] bool can_start_slow() const noexcept { return running_slow_ < max_slow_; }
  queue& queue_of(const target_slot& slot) noexcept { return slot.is_slow ? slow_ : fast_; }

  std::vector<target_slot> slots_{};
  queue fast_{};
  queue slow_{};
  std::size_t max_slow_;
  std::size_t running_slow_ = 0;
};

/// Something to scrape at intervals: an exporter, or a function of this process.
struct target {
  std::string job{};       ///< The label `job`.
  std::string instance{};  ///< The label `instance`: host:port.
  std::chrono::milliseconds interval{15'000};
  std::chrono::milliseconds timeout{10'000};  ///< Time limit of one scrape. The interval applies if it is shorter.
  exposition::parse_limits limits{};
  bool honor_labels = false;     ///< Its own labels `job` and `instance` stay. Otherwise they become `exported_job` and so on.
  bool honor_timestamps = true;  ///< Its own timestamps stay. Otherwise samples have the time of the scrape.
  /// Exactly one of `server` and `collect` must be set: an exporter, or a function of this process.
  std::shared_ptr<endpoint::endpoint> server{};
  std::function<result<void>(series::instant now, samples::batch& batch)> collect{};
};

/// The state of a target, for the resource `targets` and the health of the source.
struct target_state {
  std::string job{}, instance{};
  std::string url{};  ///< Without its query. Empty: a function of this process.
  bool is_up = false;
  std::string last_error{};                      ///< Of the last scrape, or of storing it. Safe for clients. Empty: none.
  std::optional<series::instant> last_scrape{};  ///< nullopt: not scraped yet.
  std::chrono::microseconds duration{0};         ///< Of the last scrape.
  std::size_t samples = 0;                       ///< Of the last scrape.
  std::chrono::milliseconds interval{0};         ///< Between scrapes. 0: unknown.
};

/// The store and the clock of a scraper. Tests replace them.
struct scraper_environment {
  std::function<result<samples::append_result>(const samples::batch&)> append{};
  std::function<series::instant()> now{};  ///< Empty: the system clock.
};

/// Scrapes targets on a schedule and stores the samples.
///
/// Each scrape adds `up`, `scrape_duration_seconds` and `scrape_samples_scraped`, as in Prometheus. Series of the previous
/// scrape that are missing get a stale marker; all get one if the scrape fails. The samples of the target are stored all
/// together or, after any error, not at all.
///
/// First scrapes start within a second. Later ones are spread over the interval. Missed scrapes are skipped. Samples have the
/// time at which the scrape began. Samples with timestamps more than ten minutes later are ignored.
///
/// If the clock is set back, no samples are stored until it has caught up. This is logged once. Also logged once: a store that
/// fails or has no capacity for a target's series, and a target that goes down or comes back.
///
/// Threads: its own, at most four. Targets that were slow last time use at most three of them. `start` and `stop` must be
/// called by one thread at a time, the other functions by any. `log` is called from any thread, also concurrently.
class scraper {
 public:
  /// Called after each stored scrape, when its samples can be read. `time`: of the scrape. Called on the thread that scrapes.
  /// Must not block for long.
  using scrape_listener = std::function<void(const target_state& target, series::instant time)>;

  scraper(std::shared_ptr<samples::store> store, std::vector<target> targets, scrape_listener on_scrape,
          std::function<void(std::string_view)> log);
  scraper(scraper_environment environment, std::vector<target> targets, scrape_listener on_scrape,
          std::function<void(std::string_view)> log);
  ~scraper();  ///< Stops, cancels running scrapes and waits for them.
  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  /// Starts the threads. Has no effect if they are running.
  void start();
  /// Cancels running scrapes, and waits for the threads to end.
  void stop();
  [[nodiscard]] std::vector<target_state> targets() const;
  /// Scrapes all targets once, one after another, in the calling thread.
  void scrape_once();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::scraping
