/// Ranks passages: fuses results by words and by meaning, and weights them by their documents.
#include "search/index/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

namespace hondana::search {
namespace {

std::string ordinal(std::size_t rank) {
  const auto last = rank % 10;
  const bool is_teen = rank / 10 % 10 == 1;
  const char* ending = is_teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd";
  return std::to_string(rank) + ending;
}

std::string with_two_digits(double number) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2g", number);
  return out;
}

}  // namespace

std::vector<candidate> fused(std::vector<match> by_words, std::span<const near_passage> by_meaning) {
  const auto is_better = [](const auto& one, const auto& other) {
    return one.score != other.score ? one.score > other.score : one.id < other.id;
  };
  const auto counting = std::min(by_words.size(), by_meaning.empty() ? most_by_words_alone : ranks_that_count);
  if (counting < by_words.size()) {
    std::nth_element(by_words.begin(), by_words.begin() + static_cast<std::ptrdiff_t>(counting), by_words.end(), is_better);
    by_words.resize(counting);
  }
  std::sort(by_words.begin(), by_words.end(), is_better);
  std::vector<candidate> out;
  out.reserve(by_words.size() + by_meaning.size());
  std::unordered_map<std::int64_t, std::size_t> places;
  for (const auto& one : by_words) {
    candidate made{one.id, 0, out.size() + 1, 0, 0, one.words, one.in_title, one.in_heading};
    const double best = by_words.front().score;
    made.score = by_meaning.empty() ? (best > 0 ? one.score / best : 0)
                                    : 1 / (fusion_constant + static_cast<double>(made.rank_by_words));
    if (!by_meaning.empty()) places.emplace(one.id.number, out.size());
    out.push_back(made);
  }
  for (std::size_t i = 0; i < std::min(by_meaning.size(), ranks_that_count); ++i) {
    const auto& one = by_meaning[i];
    const auto [found, is_new] = places.emplace(one.id.number, out.size());
    if (is_new) out.push_back({one.id});
    auto& there = out[found->second];
    there.rank_by_meaning = i + 1;
    there.closeness = one.closeness;
    there.score += weight_of_meaning / (fusion_constant + static_cast<double>(i + 1));
  }
  if (by_meaning.empty()) return out;
  const double most = (1 + weight_of_meaning) / (fusion_constant + 1);
  for (auto& one : out) one.score /= most;
  std::sort(out.begin(), out.end(), is_better);
  return out;
}

double worth_of(const document& what, std::chrono::system_clock::time_point now) noexcept {
  double out = 1 + weight_of_priority * 2 * (std::clamp(what.priority.value_or(0.5), 0.0, 1.0) - 0.5);
  if (what.modified) {
    const std::chrono::duration<double> age = now - *what.modified;
    const std::chrono::duration<double> half = half_life;
    out += weight_of_recency * std::exp2(-std::max(0.0, age / half));
  }
  return out;
}

std::string reason_for(const candidate& what, std::span<const wanted_word> words, const document& of) {
  std::string out;
  const auto add = [&out](std::string_view more, const char* between = "; ") {
    if (!out.empty()) out += between;
    out += more;
  };
  struct part {
    std::uint64_t bits;
    const char* place;
  };
  const auto in_text = what.words & ~what.in_title & ~what.in_heading;
  for (const auto& [bits, place] :
       {part{what.in_title, "title"}, part{what.in_heading & ~what.in_title, "heading"}, part{in_text, "text"}}) {
    std::string quoted;
    for (std::size_t i = 0; i < words.size() && i < 64; ++i) {
      if ((bits >> i & 1) == 0) continue;
      quoted += (quoted.empty() ? "\"" : ", \"") + words[i].text + '"';
    }
    if (!quoted.empty()) add(quoted + " in the " + place, ", ");
  }
  if (what.words == 0) add("none of the words");
  std::string ranks;
  if (what.rank_by_words != 0) ranks = ordinal(what.rank_by_words) + " by words";
  if (what.rank_by_meaning != 0) {
    if (!ranks.empty()) ranks += ", ";
    ranks += ordinal(what.rank_by_meaning) + " by meaning (" + with_two_digits(what.closeness) + ')';
  }
  if (!ranks.empty()) add(ranks);
  if (of.priority) add("priority " + with_two_digits(*of.priority));
  return out;
}

}  // namespace hondana::search
