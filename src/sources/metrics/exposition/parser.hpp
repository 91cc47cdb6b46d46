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

/// Hears what is parsed, in the order of the text. Views are good during the call.
class hearer {
 public:
  hearer() = default;
  hearer(const hearer&) = delete;
  hearer& operator=(const hearer&) = delete;
  virtual ~hearer() = default;

  /// Once for each family that says something of itself, before its samples or after; what it says again is passed over.
  /// `name`: as the text has it, of a counter with `_total` in Prometheus' format and without it in OpenMetrics.
  virtual void family(std::string_view name, const series::metadata& of) = 0;
  /// One sample; the identity is normalised. `at`: as the exporter says, if it does. A series that comes twice is heard twice,
  /// since the parser remembers none. False: no more is wanted, and nothing more is heard or judged.
  virtual bool sample(const series::identity& of, double value, std::optional<series::instant> at) = 0;
};

struct limits {
  std::size_t bytes = 64u << 20;   ///< Of the whole text.
  std::size_t line = 64u << 10;    ///< Bytes of one line, without its end.
  std::size_t samples = 200'000;   ///< As Prometheus' sample_limit.
  std::size_t labels = 64;         ///< Of one series.
  std::size_t label_bytes = 4096;  ///< Of one name or value.
  std::size_t families = 20'000;
};

/// Takes the text in pieces, so that 2 GB cost kilobytes: a line, and a number for each family. Threads: one at a time. Linear
/// time.
class parser {
 public:
  using format = counters::text_format;

  parser(format which, hearer& to, const limits& most = {});
  ~parser();
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;

  /// Exemplars are passed over. Refused are: what is no UTF-8, NUL, lines that end with CR LF, hexadecimal numbers, a label
  /// that is there twice; in OpenMetrics also empty lines, comments, more blanks than one, and what follows `# EOF`. Errors:
  /// invalid_argument with the line's number (from 1) and what is wrong; response_too_large with the limit's name. After an
  /// error nothing more is heard.
  [[nodiscard]] result<void> take(std::string_view piece);
  /// The end. Errors: as `take`; OpenMetrics must have had its `# EOF`.
  [[nodiscard]] result<void> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Which format a Content-Type names. Text without one is Prometheus'. Nothing: another one, such as protobuf or HTML.
[[nodiscard]] std::optional<parser::format> format_of(std::string_view content_type);
/// What to say in Accept.
[[nodiscard]] std::string_view accepted() noexcept;

}  // namespace hondana::exposition
