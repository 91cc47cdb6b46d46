/// Writes metrics in the Prometheus text format or OpenMetrics.
#include "sources/metrics/exposition/writer.hpp"

#include <cstdint>
#include <string>

namespace hondana::exposition {
namespace {

/// Prometheus text format has fewer types than OpenMetrics.
std::string_view type_name(parser::format format, series::kind kind) noexcept {
  if (format == parser::format::open_metrics) return series::name_of(kind);
  switch (kind) {
    case series::kind::unknown:
      return "untyped";
    case series::kind::info:
    case series::kind::stateset:
      return "gauge";
    default:
      return series::name_of(kind);
  }
}

std::string_view name_suffix(parser::format format, series::kind kind) noexcept {
  if (format == parser::format::open_metrics) return {};
  return kind == series::kind::counter ? "_total" : kind == series::kind::info ? "_info" : "";
}

/// Converts milliseconds to seconds, with only as many decimals as needed.
std::string seconds_text(series::instant time) {
  const bool is_negative = time < 0;
  const auto magnitude = is_negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  auto out = (is_negative ? "-" : "") + std::to_string(magnitude / 1000);
  if (auto fraction = std::to_string(magnitude % 1000); fraction != "0") {
    out.append(1, '.').append(3 - fraction.size(), '0').append(fraction);
    while (out.back() == '0') out.pop_back();
  }
  return out;
}

}  // namespace

void writer::family(std::string_view name, const series::metadata& metadata) {
  output_.family(std::string(name).append(name_suffix(format_, metadata.kind)), type_name(format_, metadata.kind),
                 metadata.unit, metadata.help);
}

void writer::sample(const series::identity& identity, double value, std::optional<series::instant> timestamp) {
  std::string time_text;
  if (timestamp) time_text = format_ == parser::format::open_metrics ? seconds_text(*timestamp) : std::to_string(*timestamp);
  output_.sample(series::to_text(identity), value, time_text);
}

}  // namespace hondana::exposition
