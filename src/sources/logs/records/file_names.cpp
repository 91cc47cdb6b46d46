/// Numbers in names.
#include "sources/logs/records/file_names.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace hondana::records {
namespace {

constexpr std::size_t most_figures = 18;

/// Numbers with '-', '_', '.', ':', 'T' or nothing between; nothing when there is anything else. Those of a date that is
/// written in one (20260131) are taken apart, so that the ways of writing dates are of one kind.
std::optional<file_rank> rank_of_middle(std::string_view middle) {
  file_rank out;
  bool is_date = false;
  for (std::size_t at = 0; at < middle.size();) {
    const auto begin = at;
    std::uint64_t number = 0;
    while (at < middle.size() && ascii::is_digit(middle[at])) {
      if (at - begin == most_figures) return std::nullopt;
      number = number * 10 + static_cast<std::uint64_t>(middle[at++] - '0');
    }
    const auto figures = at - begin;
    if (figures == 0) return std::nullopt;
    if (out.numbers.empty() && (figures == 8 || figures == 10 || figures == 12 || figures == 14) && number >= 1970'00'00 &&
        middle.starts_with('2')) {
      // A date, and perhaps hours and more.
      std::uint64_t scale = 1;
      for (auto i = figures; i > 8; i -= 2) scale *= 100;
      const auto date = number / scale;
      out.numbers = {date / 10000, date / 100 % 100, date % 100};
      for (auto rest = scale; rest > 1; rest /= 100) out.numbers.push_back(number / (rest / 100) % 100);
      is_date = true;
    } else {
      is_date = is_date || (out.numbers.empty() && figures == 4 && at < middle.size());
      is_date = is_date || (out.numbers.empty() && figures == 10);  // seconds since 1970
      out.numbers.push_back(number);
    }
    if (at == middle.size()) break;
    constexpr std::string_view between = "-_.:T";
    if (between.find(middle[at]) == std::string_view::npos) return std::nullopt;
    if (++at == middle.size()) return std::nullopt;
  }
  if (out.numbers.empty()) return std::nullopt;
  if (!is_date && out.numbers.size() > 1) return std::nullopt;
  out.how = is_date ? file_rank::scheme::dated : file_rank::scheme::numbered;
  return out;
}

}  // namespace

bool file_rank::is_before(const file_rank& than) const noexcept {
  if (how == scheme::numbered) return numbers > than.numbers;
  return numbers < than.numbers;
}

std::string_view unpacked_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 4> endings{".gz", ".xz", ".zst", ".zstd"};
  for (const auto ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

std::optional<file_rank> rank_of(std::string_view name, std::string_view live) {
  if (name == live) return file_rank{};
  name = unpacked_name(name);
  const auto middle_of = [&](std::string_view front, std::string_view back) -> std::optional<file_rank> {
    if (name.size() < front.size() + back.size() + 2 || !name.starts_with(front) || !name.ends_with(back)) return std::nullopt;
    const char separator = name[front.size()];
    if (separator != '.' && separator != '-' && separator != '_') return std::nullopt;
    return rank_of_middle(name.substr(front.size() + 1, name.size() - front.size() - back.size() - 1));
  };
  if (auto found = middle_of(live, "")) return found;
  const auto dot = live.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  return middle_of(live.substr(0, dot), live.substr(dot));
}

}  // namespace hondana::records
