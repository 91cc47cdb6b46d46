/// Values as exporters give them, made up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sources/metrics/samples/store.hpp"

namespace metrics_bench {

using hondana::series::instant;

inline constexpr hondana::series::duration step = 15'000;

/// What a series is like. Of twenty, six never change, seven are counters that rise by whole numbers (three of them seldom),
/// three count hundredths of seconds, two are sizes of memory that wander by pages, one is a load with two places, and one is
/// any number at all.
enum class manner { still, bytes, errors, seconds, memory, load, any };

/// Series in sets of twenty, scraped again and again. Threads: one.
class made_values {
 public:
  /// `count`: of series, a multiple of twenty.
  explicit made_values(std::size_t count);

  /// What the next scrape gives, with the instants of one that begins at `at`.
  [[nodiscard]] const hondana::samples::batch& next(instant at);
  /// What was given last, as an exporter says it.
  [[nodiscard]] std::string exposed() const;

 private:
  [[nodiscard]] double grown(manner how, double value);
  std::mt19937_64 draw_{20260131};
  std::vector<manner> manners_{};
  hondana::samples::batch now_{};
};

/// Of that many series the names: `made_load` and so on.
[[nodiscard]] const std::vector<std::string>& made_names();

}  // namespace metrics_bench
