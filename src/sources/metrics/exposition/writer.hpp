/// Writes metrics in the Prometheus text format or OpenMetrics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/counters/prometheus_text.hpp"
#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::exposition {

/// Writes a text. The caller must write all samples of a family directly after its metadata. Threads: one at a time.
class writer {
 public:
  explicit writer(parser::format format) : format_(format), output_(format) {}

  /// Writes the metadata (`# HELP`, `# TYPE`, `# UNIT`) that the format supports. `name`: the family without `_total` and
  /// `_info`, which are added if the format requires them.
  void family(std::string_view name, const series::metadata& metadata);
  /// Writes a sample. `identity.name` is written unchanged; it must have the suffix that the format requires for its kind.
  void sample(const series::identity& identity, double value, std::optional<series::instant> timestamp = std::nullopt);
  /// Returns the text, with the end that the format requires.
  [[nodiscard]] std::string finish() { return output_.finish(); }

 private:
  parser::format format_;
  counters::text_writer output_;
};

using counters::format_number;

}  // namespace hondana::exposition
