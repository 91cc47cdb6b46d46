/// What others make of the same samples: a table of SQLite with a row for each, and Prometheus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../http/contestant.hpp"
#include "made_values.hpp"

namespace metrics_bench {

struct corpus {
  std::size_t series = 0, scrapes = 0;
  instant first = 0;
  [[nodiscard]] std::size_t samples() const noexcept { return series * scrapes; }
  /// Of the scrape `i`; they come some milliseconds early or late, as real ones do.
  [[nodiscard]] instant at(std::size_t i) const noexcept {
    return first + static_cast<instant>(i) * step + static_cast<instant>(i * 7919 % 3);
  }
};

struct kept_by_peer {
  double write_seconds = 0, read_seconds = 0;
  std::uint64_t bytes = 0;
};

/// A row a sample (series, instant, value), its key the first two, a transaction a scrape, synced as little as ours. Throws.
[[nodiscard]] kept_by_peer keep_in_rows(const corpus& of, const std::string& path);

/// Makes Prometheus' own blocks below `folder` with promtool, and says how large they are; nothing where there is no promtool.
[[nodiscard]] std::optional<std::uint64_t> keep_in_blocks(const corpus& of, const std::string& folder);
/// A Prometheus that serves them. Throws.
[[nodiscard]] std::unique_ptr<http_bench::contestant> serve_blocks(const std::string& folder, int core);

}  // namespace metrics_bench
