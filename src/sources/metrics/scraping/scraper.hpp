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

/// Targets in the order in which they are due. Those that were slow never hold all threads. Threads: one at a time.
class rota {
 public:
  using clock = monotonic_clock;

  /// `every`: of each target. `most_slow`: how many slow ones may be under way at once. All are slow until they are known.
  rota(const std::vector<std::chrono::milliseconds>& every, clock::time_point begin, std::size_t most_slow);

  /// The target to be scraped now, which is then under way; nothing: `next_due` says when to ask again.
  [[nodiscard]] std::optional<std::size_t> take(clock::time_point now);
  /// Nothing: only when one that is under way is done.
  [[nodiscard]] std::optional<clock::time_point> next_due() const;
  /// What is overdue by then is left out.
  void done(std::size_t which, bool was_slow, clock::time_point now);

 private:
  struct turn {
    std::chrono::milliseconds every;
    clock::time_point due;   // the first time
    clock::time_point base;  // of the regular ones after it
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

/// Something that is asked each `every`: an exporter, or a function of this process.
struct target {
  std::string job{};       ///< The label `job`.
  std::string instance{};  ///< The label `instance`: host:port.
  std::chrono::milliseconds every{15'000};
  std::chrono::milliseconds time{10'000};  ///< Of one scrape; at most `every`.
  exposition::limits most{};
  bool honours_labels = false;  ///< Its own `job` and `instance` stand; otherwise they become `exported_job` and so on.
  bool honours_timestamps = true;
  /// One of both.
  std::shared_ptr<endpoint::endpoint> at{};
  std::function<result<void>(series::instant now, samples::batch& into)> collects{};
};

/// How a target is doing, for `targets` and the health of the source.
struct target_state {
  std::string job{}, instance{};
  std::string url{};  ///< Without its query; empty: a function of this process.
  bool is_up = false;
  std::string last_error{};  ///< Of the last scrape, or of keeping all of it. Safe for peers; empty: none.
  std::optional<series::instant> last_scrape{};
  std::chrono::microseconds took{0};
  std::size_t samples = 0;
  std::chrono::milliseconds every{0};
};

/// What tests put in the place of the store and the clock.
struct surroundings {
  std::function<result<samples::appended>(const samples::batch&)> keeps{};
  std::function<series::instant()> now{};  ///< Empty: the system's clock.
};

/// Each scrape adds `up`, `scrape_duration_seconds`, `scrape_samples_scraped`, as Prometheus; series that were in the last
/// scrape and are not in this one get a stale marker, all of them when it fails. A scrape is kept whole or, when anything is
/// wrong with it, not at all but for these. The first scrapes come within a second, the others are spread over the interval;
/// one that is late is left out, none is made up for. Instants are those at which the scrape began; samples that say more than
/// ten minutes later are left out. When the clock jumps back, samples are left out until it has caught up, which is logged
/// once; so is a store that takes nothing or has no room for a target's series, and a target that goes down or comes back.
///
/// Threads: its own, four at most, of which those that were slow the last time hold three at most; `start` and `stop` from one
/// thread. `log` is called from any, by several at once.
class scraper {
 public:
  /// Hears of each scrape that was kept, after it can be read. Threads: the scraper's; must not block for long.
  using scrape_hearer = std::function<void(const target_state& of, series::instant at)>;

  scraper(std::shared_ptr<samples::store> into, std::vector<target> targets, scrape_hearer hears,
          std::function<void(std::string_view)> log);
  scraper(surroundings within, std::vector<target> targets, scrape_hearer hears, std::function<void(std::string_view)> log);
  ~scraper();  ///< Stops, and waits for scrapes under way, which it cancels.
  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  void start();
  void stop();
  [[nodiscard]] std::vector<target_state> targets() const;
  /// All targets once, now, one after the other, in the calling thread; for tests, benches and `hondana check`.
  void scrape_once();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::scraping
