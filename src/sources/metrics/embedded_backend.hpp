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

/// Options of an `embedded_backend`.
struct embedded_options {
  samples::store_options store{};
  std::vector<scraping::target> targets{};
  series::duration interval = 15'000;       ///< The result of `embedded_backend::interval`. Each target has its own interval.
  std::vector<std::string> host_folders{};  ///< The folders that the metrics of this machine are read from.
  std::function<series::instant()> now{};   ///< For tests. Empty: the system clock.
  bool is_manual = false;                   ///< For tests: only `scrape_once` scrapes.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// A backend that scrapes targets into a store on this machine. `start`, or the first call that needs the store, opens it in
/// the background. If that fails, for instance because another process has the store open, it is retried every few seconds.
/// Threads: any.
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

  /// Scrapes all targets once, in the calling thread. For tests and benchmarks. Errors: the store cannot be opened.
  [[nodiscard]] result<void> scrape_once();

 private:
  struct open_store {
    std::shared_ptr<samples::store> store;
    std::unique_ptr<scraping::scraper> scraper;
    std::chrono::steady_clock::time_point opened_at = monotonic_clock::now();
  };
  /// Opens or closes the store, as last requested by `start` or `stop`.
  void open_or_close();
  /// Opens the store; schedules another attempt if this fails.
  void open();
  [[nodiscard]] series::instant now() const;
  /// Returns the open store. Waits for its first scrapes for up to 1.5 seconds after it was opened. Errors: why it cannot be
  /// opened; cancelled; timed_out.
  [[nodiscard]] result<std::shared_ptr<open_store>> wait_until_open(const request_context& context);
  /// Returns the metadata of a family or a series.
  [[nodiscard]] static series::metadata metadata_of(const samples::store& store, std::string_view name);
  void on_scrape(const scraping::target_state& target, series::instant time);

  const embedded_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<open_store> open_;                       // null: not open
  std::optional<failure> error_;                           // of the last attempt to open the store
  bool is_start_requested_ = false, has_stopped_ = false;  // by the last call of `start` or `stop`
  std::optional<series::instant> latest_;                  // time of the last stored scrape
  std::set<std::pair<std::string, std::string>> scraped_;  // job and instance of each target that was scraped at least once
  std::size_t target_count_ = 0;                           // number of distinct pairs of job and instance
  std::function<void()> listener_;
  std::mutex open_mutex_;    // held while the store is opened or closed
  executor::timers timers_;  // must be the last member: its thread uses the others
};

/// Adds all metrics of this process to `batch`, with `now` as the time of each sample. Never fails. Threads: any.
[[nodiscard]] result<void> collect_process_metrics(series::instant now, samples::batch& batch);

}  // namespace hondana::metrics
