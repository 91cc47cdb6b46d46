/// BM25 scores of passages by their words, the same for all stores.
#include "search/index/bm25.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hondana::search {

std::vector<bool> deciding(std::span<const std::uint64_t> having, std::size_t most) {
  std::vector<std::size_t> rarest(having.size());
  std::iota(rarest.begin(), rarest.end(), std::size_t{0});
  std::sort(rarest.begin(), rarest.end(), [&](std::size_t one, std::size_t other) {
    return having[one] != having[other] ? having[one] < having[other] : one < other;
  });
  std::vector<bool> out(having.size(), false);
  std::uint64_t together = 0;
  for (const auto word : rarest) {
    if (having[word] == 0) continue;
    if (together > 0 && together + having[word] > most) break;
    together += having[word];
    out[word] = true;
  }
  return out;
}

weigher::weigher(std::span<const wanted_word> words, std::vector<double> idfs)
    : idfs_(std::move(idfs)), positions_(words.size()), times_(words.size()) {
  follows_.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) follows_.push_back(i > 0 && words[i].follows);
}

void weigher::begin() {
  for (auto& one : positions_) one.clear();
  std::fill(times_.begin(), times_.end(), std::array<std::uint32_t, place_count>{});
}

void weigher::stands(std::size_t word, place where, std::uint32_t offset) {
  ++times_[word][static_cast<std::size_t>(where)];
  positions_[word].push_back((static_cast<std::uint64_t>(where) << 32) | offset);
}

bool weigher::are_neighbours(std::size_t second) {
  // A prefix can match several words, one after the other, so positions may not be sorted.
  for (auto* all : {&positions_[second - 1], &positions_[second]}) {
    if (!std::is_sorted(all->begin(), all->end())) std::sort(all->begin(), all->end());
  }
  auto one = positions_[second - 1].begin();
  auto other = positions_[second].begin();
  while (one != positions_[second - 1].end() && other != positions_[second].end()) {
    if (*one + 1 == *other) return true;
    if (*one + 1 < *other) {
      ++one;
    } else {
      ++other;
    }
  }
  return false;
}

match weigher::weighed(passage_id id, double length, double mean_length) {
  match out{id};
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (positions_[i].empty()) continue;
    const auto& times = times_[i];
    const auto bit = std::uint64_t{1} << i;
    out.score += share_of(idfs_[i], times, length, mean_length);
    out.words |= bit;
    if (times[static_cast<std::size_t>(place::title)] + times[static_cast<std::size_t>(place::name)] > 0) out.in_title |= bit;
    if (times[static_cast<std::size_t>(place::heading)] > 0) out.in_heading |= bit;
    if (follows_[i] && are_neighbours(i)) out.score += share_of_neighbours * (idfs_[i - 1] + idfs_[i]) / 2;
  }
  return out;
}

}  // namespace hondana::search
