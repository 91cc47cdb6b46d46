/// Writes the Prometheus text format 0.0.4 and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::counters {

enum class text_format : std::uint8_t { prometheus, open_metrics };

/// The media type: "text/plain; version=0.0.4; charset=utf-8", or its OpenMetrics equivalent.
[[nodiscard]] std::string_view content_type_of(text_format which) noexcept;

/// The shortest text that parses as the same number; "NaN", "+Inf" or "-Inf".
[[nodiscard]] std::string number_text(double value);

/// Appends `before` and `name="value"`. Escapes `\`, `"` and line feeds in the value.
void append_label(std::string& out, char before, std::string_view name, std::string_view value);

/// Builds a metrics text. Call `family` first, then `sample` for each of its samples. Threads: one at a time.
class text_writer {
 public:
  explicit text_writer(text_format which) : which_(which) {}

  /// Writes `# HELP` (unless `help` is empty) and `# TYPE`. In OpenMetrics, also writes `# UNIT` if `name` ends with the unit.
  /// Name and type are written unchanged.
  void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help);
  /// `series`: the name with its labels in braces. `at`: the timestamp in the syntax of the format; empty: none.
  void sample(std::string_view series, double value, std::string_view at = {});
  /// Returns the text with the end marker that the format requires.
  [[nodiscard]] std::string finish();

 private:
  text_format which_;
  std::string text_;
};

}  // namespace hondana::counters
