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
  explicit writer(parser::format format) : format_(format), output_(format) {}

  /// Writes the metadata (`# HELP`, `# TYPE`, `# UNIT`) that the format supports. `name`: the family without `_total` and
  /// `_info`, which are added if the format requires them.
  void family(std::string_view name, const series::metadata& metadata);
  /// `identity.name` is written unchanged and must have the suffix of its kind. Times are seconds in OpenMetrics, else
  /// milliseconds.
  void sample(const series::identity& identity, double value, std::optional<series::instant> timestamp = std::nullopt);
  /// The text, with the ending that the format requires.
  [[nodiscard]] std::string finish() { return output_.finish(); }

 private:
  parser::format format_;
  counters::text_writer output_;
};

using counters::format_number;

}  // namespace hondana::exposition
