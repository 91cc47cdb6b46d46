/// A streaming parser for the Prometheus text format and OpenMetrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/counters/prometheus_text.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::exposition {

/// Receives the parsed metrics, in the order of the text. Views are valid during the call only.
class sample_handler {
 public:
  sample_handler() = default;
  sample_handler(const sample_handler&) = delete;
  sample_handler& operator=(const sample_handler&) = delete;
  virtual ~sample_handler() = default;

  /// Called once for each family with metadata, before or after its samples. Later metadata of the same family is ignored.
  /// `name`: as in the text. Counters have `_total` in Prometheus text format, but not in OpenMetrics.
  virtual void family(std::string_view name, const series::metadata& metadata) = 0;
  /// Called for each sample; the identity is normalized. `timestamp`: the exporter's timestamp, if any. Duplicate series are
  /// reported twice, since the parser does not remember series. Returns whether to continue: otherwise, the rest of the text is
  /// neither reported nor checked.
  virtual bool sample(const series::identity& identity, double value, std::optional<series::instant> timestamp) = 0;
};

/// Limits of one text.
struct parse_limits {
  std::size_t max_bytes = 64u << 20;       ///< Of the whole text.
  std::size_t max_line_bytes = 64u << 10;  ///< Bytes of one line, without its end.
  std::size_t max_samples = 200'000;       ///< Corresponds to sample_limit of Prometheus.
  std::size_t max_labels = 64;             ///< Of one series.
  std::size_t max_label_bytes = 4096;      ///< Of one name or value.
  std::size_t max_families = 20'000;       ///< Families with metadata.
};

/// Parses a text that arrives in pieces. A text of 2 GB needs only kilobytes of memory: one line, and a hash per family.
/// Threads: one at a time. Linear time.
class parser {
 public:
  using format = counters::text_format;

  /// `handler`: must outlive this object.
  parser(format text_format, sample_handler& handler, const parse_limits& limits = {});
  ~parser();
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;

  /// Parses the next piece. Exemplars are skipped.
  /// Rejects invalid UTF-8, NUL, lines that end with CR LF, hexadecimal numbers and duplicate labels. In OpenMetrics, also
  /// rejects empty lines, comments, repeated blanks and text after `# EOF`.
  /// Errors: invalid_argument with the line number (from 1) and the problem. response_too_large with the name of the limit.
  /// After an error, all calls return this error.
  [[nodiscard]] result<void> parse(std::string_view piece);
  /// Parses the last line, even without a line end. Errors: as `parse`, and invalid_argument for OpenMetrics without `# EOF`.
  [[nodiscard]] result<void> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Returns the format that a Content-Type names: Prometheus text format for text/plain and an empty one. nullopt for others,
/// such as protobuf or HTML.
[[nodiscard]] std::optional<parser::format> format_of(std::string_view content_type);
/// Returns the value of the Accept header to send.
[[nodiscard]] std::string_view accept_header() noexcept;

}  // namespace hondana::exposition
