/// Formats sizes, times and shares for people.
#include "app/cli/terminal/quantities.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace hondana::cli {

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.5 would be printed as 1024.
  while (amount >= 1023.5 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  // 9.95 would be printed as 10.0.
  const int length = std::snprintf(text.data(), text.size(), amount < 9.95 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string human_age(std::chrono::seconds age) {
  using namespace std::chrono;
  if (age < minutes(1)) return std::to_string(age.count()) + " s";
  if (age < hours(1)) return std::to_string(floor<minutes>(age).count()) + " min";
  if (age < days(2)) return std::to_string(floor<hours>(age).count()) + " h";
  return std::to_string(floor<days>(age).count()) + " days";
}

std::string human_time(std::chrono::sys_time<std::chrono::milliseconds> time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  std::array<char, 64> text{};
  if (::localtime_r(&seconds, &parts) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

std::string iso_time(std::chrono::sys_time<std::chrono::milliseconds> time) {
  const auto whole_seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = whole_seconds.time_since_epoch().count();
  std::tm parts{};
  std::array<char, 64> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  const auto fraction_length =
      std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>((time - whole_seconds).count()));
  return std::string(text.data(), length) + std::string(fraction.data(), static_cast<std::size_t>(fraction_length));
}

std::string short_number(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::string(text.data(), end) : std::string();
}

}  // namespace hondana::cli
