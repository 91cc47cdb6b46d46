/// BM25 scores of passages by their words, the same for all stores.
#include "search/index/bm25.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hondana::search {

std::vector<bool> select_required(std::span<const std::uint64_t> frequencies, std::size_t max_passages) {
  std::vector<std::size_t> rarest(frequencies.size());
  std::iota(rarest.begin(), rarest.end(), std::size_t{0});
  std::sort(rarest.begin(), rarest.end(), [&](std::size_t left, std::size_t right) {
    return frequencies[left] != frequencies[right] ? frequencies[left] < frequencies[right] : left < right;
  });
  std::vector<bool> out(frequencies.size(), false);
  std::uint64_t total = 0;
  for (const auto word : rarest) {
    if (frequencies[word] == 0) continue;
    if (total > 0 && total + frequencies[word] > max_passages) break;
    total += frequencies[word];
    out[word] = true;
  }
  return out;
}

bm25_scorer::bm25_scorer(std::span<const query_word> words, std::vector<double> idfs)
    : idfs_(std::move(idfs)), positions_(words.size()), counts_(words.size()) {
  follows_.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) follows_.push_back(i > 0 && words[i].follows);
}

void bm25_scorer::begin() {
  for (auto& list : positions_) list.clear();
  std::fill(counts_.begin(), counts_.end(), std::array<std::uint32_t, field_count>{});
}

void bm25_scorer::add_occurrence(std::size_t word, document_field field, std::uint32_t offset) {
  ++counts_[word][static_cast<std::size_t>(field)];
  positions_[word].push_back((static_cast<std::uint64_t>(field) << 32) | offset);
}

bool bm25_scorer::are_adjacent(std::size_t second) {
  // A prefix can match several words, one after the other, so positions may not be sorted.
  for (auto* list : {&positions_[second - 1], &positions_[second]}) {
    if (!std::is_sorted(list->begin(), list->end())) std::sort(list->begin(), list->end());
  }
  auto left = positions_[second - 1].begin();
  auto right = positions_[second].begin();
  while (left != positions_[second - 1].end() && right != positions_[second].end()) {
    if (*left + 1 == *right) return true;
    if (*left + 1 < *right) {
      ++left;
    } else {
      ++right;
    }
  }
  return false;
}

match bm25_scorer::score(passage_id id, double length, double mean_length) {
  match out{id};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (positions_[i].empty()) continue;
    const auto& counts = counts_[i];
    const auto bit = std::uint64_t{1} << i;
    out.score += term_score(idfs_[i], counts, length, mean_length);
    out.words |= bit;
    if (counts[static_cast<std::size_t>(document_field::title)] + counts[static_cast<std::size_t>(document_field::name)] > 0)
      out.in_title |= bit;
    if (counts[static_cast<std::size_t>(document_field::heading)] > 0) out.in_heading |= bit;
    if (follows_[i] && are_adjacent(i)) out.score += adjacency_bonus * (idfs_[i - 1] + idfs_[i]) / 2;
  }
  return out;
}

}  // namespace hondana::search
