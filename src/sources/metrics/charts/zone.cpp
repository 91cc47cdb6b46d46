/// What clocks show somewhere.
#include "sources/metrics/charts/zone.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "sources/metrics/charts/calendar.hpp"
#include "sources/metrics/charts/shown_text.hpp"

namespace hondana::charts {
namespace {

constexpr std::size_t longest_zone_name = 64;

/// It becomes part of a path.
bool is_zone_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > longest_zone_name || name.front() == '/' || name.find("..") != std::string_view::npos) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '+' ||
           c == '-' || c == ':';
  });
}

std::string offset_text(series::duration offset) {
  const auto minutes = offset / 60'000;
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "%c%02d:%02d", minutes < 0 ? '-' : '+', static_cast<int>(std::abs(minutes) / 60 % 100),
                static_cast<int>(std::abs(minutes) % 60));
  return out.data();
}

}  // namespace

zone::zone(const drawing_library& with, std::string_view name)
    : with_(&with), name_(name == "UTC" ? std::string_view() : name) {
  if (!is_zone_name(name_)) return;
  rules_ = {with.time_zone_new_identifier(name_.c_str()), unref{&with}};
}

series::duration zone::offset_at(series::instant at) const noexcept {
  if (!rules_) return 0;
  const auto seconds = at >= 0 ? at / 1000 : (at - 999) / 1000;
  const gint interval = with_->time_zone_find_interval(rules_.get(), G_TIME_TYPE_UNIVERSAL, seconds);
  return interval < 0 ? 0 : series::duration{with_->time_zone_get_offset(rules_.get(), interval)} * 1000;
}

series::instant zone::instant_at(series::instant shown) const noexcept {
  // The offsets of the day before and after are those on both sides of a change.
  const auto before = shown - offset_at(shown - 86'400'000);
  if (before + offset_at(before) == shown) return before;
  const auto after = shown - offset_at(shown + 86'400'000);
  return after + offset_at(after) == shown ? after : before;
}

std::string zone::text(series::instant start, series::instant end) const {
  if (name_.empty()) return "UTC";
  if (!rules_) return "UTC (unknown time zone " + shown_text(name_, 40) + ")";
  const auto first = offset_text(offset_at(start));
  const auto last = offset_text(offset_at(end));
  return name_ + " (UTC" + first + (first == last ? "" : ", " + last) + ")";
}

std::string instant_text(series::instant at, const zone& in) {
  const auto shown = at + in.offset_at(at);
  return date_text(shown) + " " + clock_text(shown);
}

}  // namespace hondana::charts
