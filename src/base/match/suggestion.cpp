/// Suggests a known name for a misspelled one.
#include "base/match/suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace hondana::match {
namespace {

// Longer than every name in a program. Longer input is not compared.
constexpr std::size_t max_word_length = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
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
  std::size_t best_distance = max_word_length;
  if (typed.empty() || typed.size() > max_word_length) return best;
  for (const auto candidate : known) {
    const auto distance = edit_distance(typed, candidate);
    if (distance > std::max<std::size_t>(1, candidate.size() / 3) || distance >= best_distance) continue;
    // If every character differs, the suggestion makes no sense.
    if (distance >= std::max(typed.size(), candidate.size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known, std::string_view prefix) {
  const auto meant = nearest(typed, known);
  return meant.empty() ? "" : "; did you mean \"" + std::string(prefix) + std::string(meant) + "\"?";
}

std::string suggest_known(std::string_view typed, std::span<const std::string_view> known) {
  auto text = did_you_mean(typed, known);
  text += text.empty() ? "; known here: " : " Known here: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + std::string(known[i]);
  return text;
}

}  // namespace hondana::match
