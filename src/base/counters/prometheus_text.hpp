/// Writes the Prometheus text format 0.0.4 and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::counters {

enum class text_format : std::uint8_t { prometheus, open_metrics };

/// "text/plain; version=0.0.4; charset=utf-8" or OpenMetrics' own.
[[nodiscard]] std::string_view content_type_of(text_format which) noexcept;

/// The shortest text that reads as the same number; "NaN", "+Inf" and "-Inf".
[[nodiscard]] std::string number_text(double value);

/// Appends `name="value"` behind `before`, with `\`, `"` and line feeds of the value escaped.
void append_label(std::string& out, char before, std::string_view name, std::string_view value);

/// Appends to a text. All samples of a family stand together, behind its head. Threads: one at a time.
class text_writer {
 public:
  explicit text_writer(text_format which) : which_(which) {}

  /// `# HELP`, `# TYPE` and, in OpenMetrics where `name` ends with it, `# UNIT`. Name and type as the format has them.
  void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help);
  /// `series`: its name, and its labels in braces. `at`: the time as the format has it; empty: none.
  void sample(std::string_view series, double value, std::string_view at = {});
  /// The text, ended as the format wants it.
  [[nodiscard]] std::string finish();

 private:
  text_format which_;
  std::string text_;
};

}  // namespace hondana::counters
