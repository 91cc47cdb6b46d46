/// The backend with an embedded store, into which targets and the metrics of this server are scraped.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "base/executor/timers.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/samples/store.hpp"
#include "sources/metrics/scraping/scraper.hpp"

namespace hondana::metrics {

struct embedded_options {
  samples::store_options store{};
  std::vector<scraping::target> targets{};
  series::duration interval = 15'000;       ///< Scrape interval of targets that have none of their own.
  std::vector<std::string> host_folders{};  ///< The folders that the metrics of this machine are read from.
  /// For tests: the clock.
  std::function<series::instant()> now{};
  /// For tests: nothing is scraped automatically.
  bool is_still = false;
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// A backend that scrapes targets into a store on this machine. `start` or the first call opens the store in the background. If
/// that fails, for instance because another process has the store open, it is retried every few seconds. Threads: any.
class embedded_backend final : public backend {
 public:
  explicit embedded_backend(embedded_options how);
  ~embedded_backend() override;

  [[nodiscard]] result<std::vector<metric>> metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                                    const call& by) override;
  [[nodiscard]] result<std::optional<metric>> find(std::string_view name, const call& by) override;
  [[nodiscard]] result<range_answer> range(const range_request& what, const call& by) override;
  [[nodiscard]] result<std::optional<series::instant>> newest(const series::selector& of, const call& by) override;
  [[nodiscard]] std::optional<series::instant> latest() const override;
  [[nodiscard]] result<std::vector<std::string>> label_names(const series::selector& of, const call& by) override;
  [[nodiscard]] result<std::vector<std::string>> label_values(const series::selector& of, std::string_view label,
                                                              std::string_view prefix, const call& by) override;
  [[nodiscard]] result<std::vector<scraping::target_state>> targets(const call& by) override;
  [[nodiscard]] result<std::vector<alert>> alerts(const call& by) override;
  [[nodiscard]] result<std::vector<rule>> rules(const call& by) override;
  [[nodiscard]] result<range_answer> query(std::string_view promql, const series::range& at, std::size_t most_points,
                                           const call& by) override;
  [[nodiscard]] series::duration interval() const override { return how_.interval; }
  void start() override;
  void stop() override;
  void follow(std::function<void()> told) override;
  [[nodiscard]] hondana::health health() const override;
  [[nodiscard]] hondana::needs needs() const override;

  /// Scrapes all targets once, in the calling thread, as `scraping::scraper::scrape_once` does. For tests and benchmarks.
  [[nodiscard]] result<void> scrape_once();

 private:
  struct open_store {
    std::shared_ptr<samples::store> kept;
    std::unique_ptr<scraping::scraper> scraper;
    std::chrono::steady_clock::time_point since = monotonic_clock::now();
  };
  void turn();
  void open();
  [[nodiscard]] series::instant now() const;
  [[nodiscard]] result<std::shared_ptr<open_store>> opened(const call& by);
  [[nodiscard]] static series::metadata facts_of(const samples::store& from, std::string_view name);
  void hear(const scraping::target_state& of, series::instant at);

  const embedded_options how_;
  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::shared_ptr<open_store> open_;
  std::optional<failure> problem_;
  bool is_wanted_ = false, has_stopped_ = false;
  std::optional<series::instant> latest_;
  std::set<std::pair<std::string, std::string>> heard_;  // job and instance of each target that was scraped at least once
  std::size_t places_ = 0;                               // number of distinct pairs of job and instance
  std::function<void()> told_;
  std::mutex turning_;       // held while the store is opened or closed
  executor::timers timers_;  // must be the last member: its thread uses the others
};

/// Adds all metrics of this process to `into`, with `now` as the time of each sample. Threads: any.
[[nodiscard]] result<void> collect_own_figures(series::instant now, samples::batch& into);

}  // namespace hondana::metrics
