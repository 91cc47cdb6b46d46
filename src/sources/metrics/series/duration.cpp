/// Lengths of time as PromQL writes them.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "sources/metrics/series/aggregation.hpp"

namespace hondana::series {
namespace {

struct unit_of_time {
  std::string_view name;
  duration length;
};
constexpr duration day = 86'400'000;
/// The longest first, as they follow each other in a text.
constexpr std::array<unit_of_time, 7> units_of_time{
    {{"y", 365 * day}, {"w", 7 * day}, {"d", day}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr duration century = 100 * 365 * day;

tl::unexpected<failure> no_duration(std::string_view why) {
  return fail(errc::invalid_argument, "not a valid duration: " + std::string(why) + "; write it as 90s, 5m, 1h30m or 7d");
}

/// Takes the digits at the beginning. Negative: there are none, or too many.
duration take_number(std::string_view& text) noexcept {
  duration value = -1;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || std::from_chars(text.data(), text.data() + digits, value).ec != std::errc{} || value > century) value = -1;
  text.remove_prefix(digits);
  return value;
}

/// The fraction of a second behind its point, in milliseconds. Negative: it is none.
duration fraction(std::string_view text) noexcept {
  if (text.empty() || text.size() > 3) return -1;
  duration value = 0;
  for (std::size_t at = 0; at < 3; ++at) {
    const char c = at < text.size() ? text[at] : '0';
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

result<duration> parse_duration(std::string_view text) {
  if (text.empty()) return no_duration("the text is empty");
  duration sum = 0;
  std::size_t next_unit = 0;
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (number < 0) return no_duration("expected a number, at most a century in milliseconds");
    if (is_bare) {
      duration thousandths = 0;
      if (!text.empty()) thousandths = fraction(text.substr(1));
      if (thousandths < 0) return no_duration("seconds have at most three decimals");
      if (number > century / 1000) return no_duration("it is longer than a century");
      sum = number * 1000 + thousandths;
      break;
    }
    const auto name = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
    const auto unit = std::find_if(units_of_time.begin() + static_cast<std::ptrdiff_t>(next_unit), units_of_time.end(),
                                   [name](const unit_of_time& one) { return one.name == name; });
    if (unit == units_of_time.end()) return no_duration("units are y, w, d, h, m, s and ms, longest first, each at most once");
    if (number > century / unit->length) return no_duration("it is longer than a century");
    sum += number * unit->length;
    next_unit = static_cast<std::size_t>(unit - units_of_time.begin()) + 1;
    text.remove_prefix(name.size());
  }
  if (sum > century) return no_duration("it is longer than a century");
  if (sum == 0) return no_duration("it is zero");
  return sum;
}

std::string to_text(duration of) {
  std::string best = std::to_string(of) + "ms";
  // Each choice of units is tried; with fewer units first where two are as short.
  for (unsigned chosen = 1; chosen < 1u << units_of_time.size(); ++chosen) {
    std::string text;
    duration rest = of;
    for (std::size_t at = 0; at < units_of_time.size(); ++at) {
      if ((chosen >> at & 1) == 0 || rest < units_of_time[at].length) continue;
      text.append(std::to_string(rest / units_of_time[at].length)).append(units_of_time[at].name);
      rest %= units_of_time[at].length;
    }
    if (rest == 0 && text.size() < best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace hondana::series
