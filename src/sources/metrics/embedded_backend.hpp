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
  bool is_manual = false;
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// A backend that scrapes targets into a store on this machine. `start` or the first call opens the store in the background. If
/// that fails, for instance because another process has the store open, it is retried every few seconds. Threads: any.
class embedded_backend final : public backend {
 public:
  explicit embedded_backend(embedded_options options);
  ~embedded_backend() override;

  [[nodiscard]] result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after_key, std::size_t limit,
                                                         const request_context& context) override;
  [[nodiscard]] result<std::optional<metric_info>> find(std::string_view name, const request_context& context) override;
  [[nodiscard]] result<range_answer> range(const range_request& request, const request_context& context) override;
  [[nodiscard]] result<std::optional<series::instant>> newest_sample_time(const series::selector& selector,
                                                                          const request_context& context) override;
  [[nodiscard]] std::optional<series::instant> last_ingest_time() const override;
  [[nodiscard]] result<std::vector<std::string>> label_names(const series::selector& selector,
                                                             const request_context& context) override;
  [[nodiscard]] result<std::vector<std::string>> label_values(const series::selector& selector, std::string_view label,
                                                              std::string_view prefix, const request_context& context) override;
  [[nodiscard]] result<std::vector<scraping::target_state>> targets(const request_context& context) override;
  [[nodiscard]] result<std::vector<alert>> alerts(const request_context& context) override;
  [[nodiscard]] result<std::vector<rule>> rules(const request_context& context) override;
  [[nodiscard]] result<range_answer> query(std::string_view promql, const series::range& range, std::size_t max_points,
                                           const request_context& context) override;
  [[nodiscard]] series::duration interval() const override { return options_.interval; }
  void start() override;
  void stop() override;
  void set_listener(std::function<void()> listener) override;
  [[nodiscard]] hondana::provider_health health() const override;
  [[nodiscard]] hondana::system_requirements requirements() const override;

  /// Scrapes all targets once, in the calling thread, as `scraping::scraper::scrape_once` does. For tests and benchmarks.
  [[nodiscard]] result<void> scrape_once();

 private:
  struct open_store {
    std::shared_ptr<samples::store> store;
    std::unique_ptr<scraping::scraper> scraper;
    std::chrono::steady_clock::time_point opened_at = monotonic_clock::now();
  };
  void open_or_close();
  void open();
  [[nodiscard]] series::instant now() const;
  [[nodiscard]] result<std::shared_ptr<open_store>> wait_until_open(const request_context& context);
  [[nodiscard]] static series::metadata metadata_of(const samples::store& store, std::string_view name);
  void on_scrape(const scraping::target_state& target, series::instant time);

  const embedded_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<open_store> open_;
  std::optional<failure> error_;
  bool is_start_requested_ = false, has_stopped_ = false;
  std::optional<series::instant> latest_;
  std::set<std::pair<std::string, std::string>> scraped_;  // job and instance of each target that was scraped at least once
  std::size_t target_count_ = 0;                           // number of distinct pairs of job and instance
  std::function<void()> listener_;
  std::mutex open_mutex_;    // held while the store is opened or closed
  executor::timers timers_;  // must be the last member: its thread uses the others
};

/// Adds all metrics of this process to `batch`, with `now` as the time of each sample. Threads: any.
[[nodiscard]] result<void> collect_process_metrics(series::instant now, samples::batch& batch);

}  // namespace hondana::metrics
