/// Writes the Prometheus text format 0.0.4 and OpenMetrics 1.0.
#include "base/counters/prometheus_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace hondana::counters {
namespace {

/// Appends an escaped help text. CR and NUL become spaces, because parsers do not accept CR as white space at the end of a
/// line.
void append_help(std::string& out, std::string_view text, bool has_quotes) {
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' || (c == '"' && has_quotes))
      out.append(1, '\\').append(1, c);
    else
      out += c == '\r' || c == '\0' ? ' ' : c;
  }
}

}  // namespace

std::string_view content_type_of(text_format format) noexcept {
  return format == text_format::open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string format_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto converted = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), converted.ptr};
}

void append_label(std::string& out, char separator, std::string_view name, std::string_view value) {
  out += separator;
  out.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

void text_writer::family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
  const auto line = [&](std::string_view keyword) -> std::string& {
    return text_.append("# ").append(keyword).append(1, ' ').append(name).append(1, ' ');
  };
  const bool is_open_metrics = format_ == text_format::open_metrics;
  if (!help.empty()) append_help(line("HELP"), help, is_open_metrics), text_ += '\n';
  line("TYPE").append(type).append(1, '\n');
  // OpenMetrics requires that the name ends with its unit.
  const bool has_unit_suffix =
      name.size() > unit.size() + 1 && name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_';
  if (is_open_metrics && !unit.empty() && has_unit_suffix) line("UNIT").append(unit).append(1, '\n');
}

void text_writer::sample(std::string_view series, double value, std::string_view timestamp) {
  text_.append(series).append(1, ' ').append(format_number(value));
  if (!timestamp.empty()) text_.append(1, ' ').append(timestamp);
  text_ += '\n';
}

std::string text_writer::finish() {
  if (format_ == text_format::open_metrics) text_ += "# EOF\n";
  return std::exchange(text_, {});
}

}  // namespace hondana::counters
