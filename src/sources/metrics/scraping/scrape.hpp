/// One scrape of one target: the request, labels and timestamps of its samples, and stale markers of series that ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/samples/store.hpp"
#include "sources/metrics/scraping/scraper.hpp"

namespace hondana::scraping {

/// Adds the labels `job` and `instance` of the target to a series. If the target has `honor_labels`, existing labels of these
/// names stay. Otherwise they become `exported_job` and `exported_instance`, or `exported_exported_job` if that name is taken,
/// and so on. Spec: Prometheus, honor_labels.
void add_target_labels(series::identity& identity, const target& target);

/// How far ahead of the scrape a timestamp of a sample may be, in milliseconds.
inline constexpr series::duration max_ahead = 600'000;

/// Adds the samples of a scrape to a batch, with the labels of the target. Leaves out samples beyond `max_ahead`. Threads: one
/// at a time.
class batch_handler final : public exposition::sample_handler {
 public:
  /// `time`: of the scrape. `target` and `batch` must outlive this object.
  batch_handler(const target& target, series::instant time, samples::batch& batch) noexcept
      : target_(target), batch_(batch), time_(time) {}

  void family(std::string_view name, const series::metadata& metadata) override;
  bool sample(const series::identity& identity, double value, std::optional<series::instant> timestamp) override;
  /// Returns the number of received samples, also those left out.
  [[nodiscard]] std::size_t samples() const noexcept { return samples_; }

 private:
  const target& target_;
  samples::batch& batch_;
  series::instant time_;
  std::size_t samples_ = 0;
};

/// The result of `scrape`.
struct scrape_result {
  bool is_up = false;
  bool is_cancelled = false;  ///< The scrape was cancelled, so `is_up` says nothing.
  std::string error{};        ///< Why the target is not up. Safe for clients.
  std::chrono::microseconds duration{0};
  std::size_t samples = 0;  ///< Number of samples of the target.
};

/// Number of entries about the scrape itself: `up` and so on. They are the first of its batch.
inline constexpr std::size_t scrape_entries = 3;

/// Scrapes a target and fills `batch`, which must be empty. The target's samples follow the entries about the scrape, unless
/// there was an error. `time`: of the scrape. Blocks at most `target.timeout` if the target is a service.
[[nodiscard]] scrape_result scrape(const target& target, series::instant time, const std::stop_token& stop,
                                   samples::batch& batch);

/// The series of the previous scrape of a target. Threads: one at a time.
class previous_series {
 public:
  /// Appends to the batch of the next scrape a stale marker for each series that it does not have. `first`: index of the first
  /// sample of the target. `time`: of the scrape.
  void mark_stale(samples::batch& batch, std::size_t first, series::instant time) const;
  /// Stores the series of the entries from `first` on whose time is that of the scrape and that are not stale. Leaves out
  /// series with their own timestamps, since their end cannot be detected.
  void replace(samples::batch batch, std::size_t first, series::instant time);

 private:
  std::vector<series::identity> series_{};  // in the order of the scrape
};

}  // namespace hondana::scraping
