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
  const char* suffix = is_teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd";
  return std::to_string(rank) + suffix;
}

std::string with_two_digits(double number) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2g", number);
  return out;
}

}  // namespace

std::vector<candidate> fuse(std::vector<match> lexical, std::span<const near_passage> semantic) {
  const auto is_better = [](const auto& left, const auto& right) {
    return left.score != right.score ? left.score > right.score : left.id < right.id;
  };
  const auto count = std::min(lexical.size(), semantic.empty() ? max_lexical_matches : max_fused_ranks);
  if (count < lexical.size()) {
    std::nth_element(lexical.begin(), lexical.begin() + static_cast<std::ptrdiff_t>(count), lexical.end(), is_better);
    lexical.resize(count);
  }
  std::sort(lexical.begin(), lexical.end(), is_better);
  std::vector<candidate> out;
  out.reserve(lexical.size() + semantic.size());
  std::unordered_map<std::int64_t, std::size_t> positions;
  for (const auto& entry : lexical) {
    candidate ranked{entry.id, 0, out.size() + 1, 0, 0, entry.words, entry.in_title, entry.in_heading};
    const double best = lexical.front().score;
    ranked.score = semantic.empty() ? (best > 0 ? entry.score / best : 0)
                                    : 1 / (fusion_constant + static_cast<double>(ranked.lexical_rank));
    if (!semantic.empty()) positions.emplace(entry.id.number, out.size());
    out.push_back(ranked);
  }
  for (std::size_t i = 0; i < std::min(semantic.size(), max_fused_ranks); ++i) {
    const auto& neighbour = semantic[i];
    const auto [position, is_new] = positions.emplace(neighbour.id.number, out.size());
    if (is_new) out.push_back({neighbour.id});
    auto& target = out[position->second];
    target.semantic_rank = i + 1;
    target.similarity = neighbour.similarity;
    target.score += semantic_weight / (fusion_constant + static_cast<double>(i + 1));
  }
  if (semantic.empty()) return out;
  const double max_score = (1 + semantic_weight) / (fusion_constant + 1);
  for (auto& fused : out) fused.score /= max_score;
  std::sort(out.begin(), out.end(), is_better);
  return out;
}

double document_weight(const document& document, std::chrono::system_clock::time_point now) noexcept {
  double out = 1 + priority_weight * 2 * (std::clamp(document.priority.value_or(0.5), 0.0, 1.0) - 0.5);
  if (document.modified) {
    const std::chrono::duration<double> age = now - *document.modified;
    const std::chrono::duration<double> half = half_life;
    out += recency_weight * std::exp2(-std::max(0.0, age / half));
  }
  return out;
}

std::string explain_rank(const candidate& ranked, std::span<const query_word> words, const document& document) {
  std::string out;
  const auto add = [&out](std::string_view text, const char* separator = "; ") {
    if (!out.empty()) out += separator;
    out += text;
  };
  struct part {
    std::uint64_t bits;
    const char* field;
  };
  const auto in_text = ranked.words & ~ranked.in_title & ~ranked.in_heading;
  for (const auto& [bits, field] :
       {part{ranked.in_title, "title"}, part{ranked.in_heading & ~ranked.in_title, "heading"}, part{in_text, "text"}}) {
    std::string quoted;
    for (std::size_t i = 0; i < words.size() && i < 64; ++i) {
      if ((bits >> i & 1) == 0) continue;
      quoted += (quoted.empty() ? "\"" : ", \"") + words[i].text + '"';
    }
    if (!quoted.empty()) add(quoted + " in the " + field, ", ");
  }
  if (ranked.words == 0) add("none of the words");
  std::string ranks;
  if (ranked.lexical_rank != 0) ranks = ordinal(ranked.lexical_rank) + " by words";
  if (ranked.semantic_rank != 0) {
    if (!ranks.empty()) ranks += ", ";
    ranks += ordinal(ranked.semantic_rank) + " by meaning (" + with_two_digits(ranked.similarity) + ')';
  }
  if (!ranks.empty()) add(ranks);
  if (document.priority) add("priority " + with_two_digits(*document.priority));
  return out;
}

}  // namespace hondana::search
