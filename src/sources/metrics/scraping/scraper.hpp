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

/// A schedule of targets by due time. Slow targets never occupy all threads. Threads: one at a time.
class rota {
 public:
  using clock = monotonic_clock;

  /// `every`: interval of each target. `most_slow`: how many slow targets may be scraped at once. A target counts as slow until
  /// its first scrape.
  rota(const std::vector<std::chrono::milliseconds>& every, clock::time_point begin, std::size_t most_slow);

  /// Returns a target that is due, which then counts as being scraped. Nothing: wait until `next_due`.
  [[nodiscard]] std::optional<std::size_t> take(clock::time_point now);
  /// Nothing: wait until a running scrape is done.
  [[nodiscard]] std::optional<clock::time_point> next_due() const;
  /// Reports the end of a scrape. Turns missed by `now` are skipped.
  void done(std::size_t which, bool was_slow, clock::time_point now);

 private:
  struct turn {
    std::chrono::milliseconds every;
    clock::time_point due;   // the first time
    clock::time_point base;  // start of the regular schedule
    bool is_slow = true;
  };
  using queue = std::set<std::pair<clock::time_point, std::size_t>>;
  [[nodiscard]] bool may_take_slow() const noexcept { return slow_under_way_ < most_slow_; }
  queue& queue_of(const turn& one) noexcept { return one.is_slow ? slow_ : quick_; }

  std::vector<turn> turns_{};
  queue quick_{};
  queue slow_{};
  std::size_t most_slow_;
  std::size_t slow_under_way_ = 0;
};

/// Something to scrape at intervals: an exporter, or a function of this process.
struct target {
  std::string job{};       ///< The label `job`.
  std::string instance{};  ///< The label `instance`: host:port.
  std::chrono::milliseconds every{15'000};
  std::chrono::milliseconds time{10'000};  ///< Time limit of one scrape, at most `every`.
  exposition::limits most{};
  bool honours_labels = false;  ///< Its own labels `job` and `instance` stay. Otherwise they become `exported_job` and so on.
  bool honours_timestamps = true;
  /// Exactly one of these two is set.
  std::shared_ptr<endpoint::endpoint> at{};
  std::function<result<void>(series::instant now, samples::batch& into)> collects{};
};

/// The state of a target, for the resource `targets` and the health of the source.
struct target_state {
  std::string job{}, instance{};
  std::string url{};  ///< Without its query. Empty: a function of this process.
  bool is_up = false;
  std::string last_error{};  ///< Of the last scrape, or of storing it. Safe for clients. Empty: none.
  std::optional<series::instant> last_scrape{};
  std::chrono::microseconds took{0};
  std::size_t samples = 0;
  std::chrono::milliseconds every{0};
};

/// Replaces the store and the clock in tests.
struct surroundings {
  std::function<result<samples::appended>(const samples::batch&)> keeps{};
  std::function<series::instant()> now{};  ///< Empty: the system clock.
};

/// Scrapes targets on a schedule and stores the samples.
///
/// Each scrape adds `up`, `scrape_duration_seconds` and `scrape_samples_scraped`, as in Prometheus. Series of the previous
/// scrape that are missing get a stale marker; all get one if the scrape fails. Apart from these, a scrape is stored as a whole
/// or, after any error, not at all.
///
/// First scrapes start within a second. Later ones are spread over the interval. Missed scrapes are skipped. Samples have the
/// time at which the scrape began. Samples with timestamps more than ten minutes later are ignored.
///
/// If the clock is set back, no samples are stored until it has caught up. This is logged once. Also logged once: a store that
/// fails or has no capacity for a target's series, and a target that goes down or comes back.
///
/// Threads: its own, at most four. Targets that were slow last time use at most three of them. Call `start` and `stop` from one
/// thread. `log` is called from any thread, also concurrently.
class scraper {
 public:
  /// Called after each stored scrape, when its samples can be read. Threads: those of the scraper. Must not block for long.
  using scrape_hearer = std::function<void(const target_state& of, series::instant at)>;

  scraper(std::shared_ptr<samples::store> into, std::vector<target> targets, scrape_hearer hears,
          std::function<void(std::string_view)> log);
  scraper(surroundings within, std::vector<target> targets, scrape_hearer hears, std::function<void(std::string_view)> log);
  ~scraper();  ///< Stops, cancels running scrapes and waits for them.
  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  void start();
  void stop();
  [[nodiscard]] std::vector<target_state> targets() const;
  /// Scrapes all targets once, one after another, in the calling thread. For tests, benchmarks and `hondana check`.
  void scrape_once();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::scraping
