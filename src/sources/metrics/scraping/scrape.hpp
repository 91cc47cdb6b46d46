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

/// Gives a series the labels `job` and `instance` of the target. Its own of these names stand where the target's are honoured,
/// and otherwise become `exported_job` and `exported_instance`, or `exported_exported_job` where there is such a label, and so
/// on. Spec: Prometheus, honor_labels.
void label_as(series::identity& of, const target& by);

/// How much later than the scrape a sample may say that it is.
inline constexpr series::duration most_ahead = 600'000;

/// Puts samples into a batch. Threads: one at a time.
class intake final : public exposition::hearer {
 public:
  intake(const target& from, series::instant at, samples::batch& into) noexcept : from_(from), into_(into), at_(at) {}

  void family(std::string_view name, const series::metadata& of) override;
  bool sample(const series::identity& of, double value, std::optional<series::instant> at) override;
  [[nodiscard]] std::size_t samples() const noexcept { return samples_; }

 private:
  const target& from_;
  samples::batch& into_;
  series::instant at_;
  std::size_t samples_ = 0;
};

struct scraped {
  bool is_up = false;
  bool is_cancelled = false;  ///< Nothing can be said of the target.
  std::string error{};        ///< Why it is not up.
  std::chrono::microseconds took{0};
  std::size_t samples = 0;
};

/// How many entries of a scrape's batch are about itself; they are the first.
inline constexpr std::size_t own_entries = 3;

/// Asks and fills `into`, which is empty: `up` and what belongs to it first, then what the target said, unless anything was
/// wrong with it. Blocks for `of.time` at most, where the target is a service.
[[nodiscard]] scraped scrape(const target& of, series::instant at, const std::stop_token& stop, samples::batch& into);

/// Threads: one at a time.
class standing_series {
 public:
  /// Appends a stale marker for each that is not among the batch's entries; `first`: where those of the scrape begin.
  void mark_ended(samples::batch& into, std::size_t first, series::instant at) const;
  /// From now on: those of the entries from `first` on that are not stale and have no time of their own, since nobody knows of
  /// these when they end.
  void replace(samples::batch kept, std::size_t first, series::instant at);

 private:
  std::vector<series::identity> all_{};  // in the order in which they came
};

}  // namespace hondana::scraping
