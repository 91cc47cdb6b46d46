/// What a target says, on its way into a batch.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

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

}  // namespace hondana::scraping
