/// Writes metrics in the Prometheus text format or OpenMetrics.
#include "sources/metrics/exposition/writer.hpp"

#include <cstdint>
#include <string>

namespace hondana::exposition {
namespace {

/// Prometheus text format has fewer types than OpenMetrics.
std::string_view type_in(parser::format which, series::kind what) noexcept {
  if (which == parser::format::open_metrics) return series::name_of(what);
  switch (what) {
    case series::kind::unknown:
      return "untyped";
    case series::kind::info:
    case series::kind::stateset:
      return "gauge";
    default:
      return series::name_of(what);
  }
}

std::string_view ending_in(parser::format which, series::kind what) noexcept {
  if (which == parser::format::open_metrics) return {};
  return what == series::kind::counter ? "_total" : what == series::kind::info ? "_info" : "";
}

/// Converts milliseconds to seconds, with only as many decimals as needed.
std::string seconds_text(series::instant at) {
  const bool is_negative = at < 0;
  const auto size = is_negative ? 0 - static_cast<std::uint64_t>(at) : static_cast<std::uint64_t>(at);
  auto out = (is_negative ? "-" : "") + std::to_string(size / 1000);
  if (auto rest = std::to_string(size % 1000); rest != "0") {
    out.append(1, '.').append(3 - rest.size(), '0').append(rest);
    while (out.back() == '0') out.pop_back();
  }
  return out;
}

}  // namespace

void writer::family(std::string_view name, const series::metadata& of) {
  to_.family(std::string(name).append(ending_in(which_, of.kind)), type_in(which_, of.kind), of.unit, of.help);
}

void writer::sample(const series::identity& of, double value, std::optional<series::instant> at) {
  std::string when;
  if (at) when = which_ == parser::format::open_metrics ? seconds_text(*at) : std::to_string(*at);
  to_.sample(series::to_text(of), value, when);
}

}  // namespace hondana::exposition
