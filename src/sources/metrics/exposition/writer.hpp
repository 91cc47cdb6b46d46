/// Writes metrics in the Prometheus text format or OpenMetrics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/counters/prometheus_text.hpp"
#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::exposition {

/// Appends to a text. All samples of a family stand together, behind its head. Threads: one at a time.
class writer {
 public:
  explicit writer(parser::format which) : which_(which), to_(which) {}

  /// `# HELP`, `# TYPE` and `# UNIT` as the format has them. `name`: of the family, without `_total` and `_info`, which are put
  /// there where the format wants them.
  void family(std::string_view name, const series::metadata& of);
  /// `of.name` is written as it is, with the suffix that its kind wants. Times are seconds in OpenMetrics and milliseconds
  /// else.
  void sample(const series::identity& of, double value, std::optional<series::instant> at = std::nullopt);
  /// The text, ended as the format wants it.
  [[nodiscard]] std::string finish() { return to_.finish(); }

 private:
  parser::format which_;
  counters::text_writer to_;
};

using counters::number_text;

}  // namespace hondana::exposition
