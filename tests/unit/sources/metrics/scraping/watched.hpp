/// What a scraper keeps and says, for tests to wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/scraping/scraper.hpp"

namespace hondana_test {

/// Stands for the store, the clock, the log and whoever hears of scrapes. Threads: any.
class watched {
 public:
  using batch = hondana::samples::batch;

  hondana::scraping::scraper_environment surroundings();
  std::function<void(std::string_view)> log();
  hondana::scraping::scraper::scrape_listener hearer();

  /// False when it has not come true in time.
  bool wait_for(const std::function<bool(const watched&)>& what);

  /// How often a target's scrape was kept; of the batch `which`, from 0, a series' value.
  [[nodiscard]] std::size_t kept_of(const std::string& instance) const;
  [[nodiscard]] static std::optional<double> value_in(const batch& of, const std::string& series);
  [[nodiscard]] static std::vector<std::string> stale_in(const batch& of);

  // Looked at and changed while nothing runs, or inside `wait_for`.
  std::vector<batch> batches{};
  std::vector<std::string> lines{};
  std::vector<hondana::scraping::target_state> heard{};
  bool is_full = false;  ///< The disk.
  std::optional<hondana::series::instant> now{};
  void set(const std::function<void(watched&)>& change);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace hondana_test
