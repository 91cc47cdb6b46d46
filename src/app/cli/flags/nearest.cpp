/// The distance between words: optimal string alignment.
#include "app/cli/flags/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hondana::cli {
namespace {

// No command or flag is longer; what is typed is not compared beyond it.
constexpr std::size_t longest_word = 64;

std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last_but_one;
  std::vector<std::size_t> last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], last_but_one[j - 2] + 1);
    }
    last_but_one = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t fewest = longest_word;
  if (typed.empty() || typed.size() > longest_word) return best;
  for (const auto one : known) {
    const auto slips = slips_between(typed, one);
    if (slips > std::max<std::size_t>(1, one.size() / 3) || slips >= fewest) continue;
    // With everything replaced nothing was meant.
    if (slips >= std::max(typed.size(), one.size())) continue;
    best = one;
    fewest = slips;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known, std::string_view before) {
  const auto meant = nearest(typed, known);
  return meant.empty() ? "" : "; did you mean \"" + std::string(before) + std::string(meant) + "\"?";
}

}  // namespace hondana::cli
