/// Families and samples as text.
#include "exposition/writer.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace hondana::exposition {
namespace {

/// Prometheus' format knows fewer kinds.
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

/// A carriage return is no blank for readers at the end of a line; within one it is no more to a person either.
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

/// Milliseconds as seconds with no more decimals than there are.
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
  const auto line = [&](std::string_view what) -> std::string& {
    return text_.append("# ").append(what).append(1, ' ').append(name).append(ending_in(which_, of.kind)).append(1, ' ');
  };
  const bool is_open_metrics = which_ == parser::format::open_metrics;
  if (!of.help.empty()) append_help(line("HELP"), of.help, is_open_metrics), text_ += '\n';
  line("TYPE").append(type_in(which_, of.kind)).append(1, '\n');
  // OpenMetrics wants the name to end with its unit.
  const bool is_named_so =
      name.size() > of.unit.size() + 1 && name.ends_with(of.unit) && name[name.size() - of.unit.size() - 1] == '_';
  if (is_open_metrics && !of.unit.empty() && is_named_so) line("UNIT").append(of.unit).append(1, '\n');
}

void writer::sample(const series::identity& of, double value, std::optional<series::instant> at) {
  series::append_text(text_, of);
  text_.append(1, ' ').append(number_text(value));
  if (at) text_.append(1, ' ').append(which_ == parser::format::open_metrics ? seconds_text(*at) : std::to_string(*at));
  text_ += '\n';
}

std::string writer::finish() {
  if (which_ == parser::format::open_metrics) text_ += "# EOF\n";
  return std::exchange(text_, {});
}

}  // namespace hondana::exposition
