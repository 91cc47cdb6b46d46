/// Writes the Prometheus text format 0.0.4 and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::counters {

enum class text_format : std::uint8_t { prometheus, open_metrics };

/// The media type of a format: "text/plain; version=0.0.4; charset=utf-8", or its OpenMetrics equivalent.
[[nodiscard]] std::string_view content_type_of(text_format format) noexcept;

/// Returns the shortest text that parses as the same number; otherwise "NaN", "+Inf" or "-Inf".
[[nodiscard]] std::string format_number(double value);

/// Appends `separator`, usually `{` or `,`, and `name="value"`. Escapes `\`, `"` and line feeds in the value.
void append_label(std::string& out, char separator, std::string_view name, std::string_view value);

/// Builds a metrics text. For each family, call `family`, then `sample` for each sample. Threads: one at a time.
class text_writer {
 public:
  explicit text_writer(text_format format) : format_(format) {}

  /// Writes `# HELP` (unless `help` is empty) and `# TYPE`. In OpenMetrics, also writes `# UNIT` if `name` ends with the unit.
  /// Writes `name` and `type` unchanged, so `name` must have the suffix that the format requires.
  void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help);
  /// Writes one sample. `series`: its name, with labels in braces. `timestamp`: in the syntax of the format; empty: none.
  void sample(std::string_view series, double value, std::string_view timestamp = {});
  /// Returns the text with the end marker of OpenMetrics, and begins a new text.
  [[nodiscard]] std::string finish();

 private:
  text_format format_;
  std::string text_;
};

}  // namespace hondana::counters
