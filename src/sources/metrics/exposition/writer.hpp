/// Writes metrics in the Prometheus text format or OpenMetrics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/counters/prometheus_text.hpp"
#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::exposition {

/// Appends to a text. All samples of a family must directly follow its metadata. Threads: one at a time.
class writer {
 public:
  explicit writer(parser::format which) : which_(which), to_(which) {}

  /// Writes the metadata (`# HELP`, `# TYPE`, `# UNIT`) that the format supports. `name`: the family without `_total` and
  /// `_info`, which are added if the format requires them.
  void family(std::string_view name, const series::metadata& of);
  /// `of.name` is written unchanged and must have the suffix of its kind. Times are seconds in OpenMetrics, else milliseconds.
  void sample(const series::identity& of, double value, std::optional<series::instant> at = std::nullopt);
  /// The text, with the ending that the format requires.
  [[nodiscard]] std::string finish() { return to_.finish(); }

 private:
  parser::format which_;
  counters::text_writer to_;
};

using counters::number_text;

}  // namespace hondana::exposition
