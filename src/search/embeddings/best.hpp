/// The nearest of many, while they are looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "search/embeddings/neighbours.hpp"

namespace hondana::embeddings {

/// Nearer, and of those as near the one with the lower number.
[[nodiscard]] inline bool is_nearer(const neighbours::near_one& a, const neighbours::near_one& b) noexcept {
  return a.closeness != b.closeness ? a.closeness > b.closeness : a.number < b.number;
}

/// Keeps at most `most`. Threads: one at a time.
class best {
 public:
  best(std::size_t most, const std::function<bool(std::int64_t)>& admits) : most_(most), admits_(admits) {}

  /// Asks whether it is admitted only where it would be kept. Not for a closeness that is no number.
  void offer(const neighbours::near_one& one) {
    if (kept_.size() == most_ && (most_ == 0 || !is_nearer(one, kept_.front()))) return;
    if (admits_ && !admits_(one.number)) return;
    if (kept_.size() == most_) {
      std::pop_heap(kept_.begin(), kept_.end(), is_nearer);
      kept_.back() = one;
    } else {
      kept_.push_back(one);
    }
    std::push_heap(kept_.begin(), kept_.end(), is_nearer);
  }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  /// The nearest first.
  [[nodiscard]] std::vector<neighbours::near_one> take() {
    std::sort_heap(kept_.begin(), kept_.end(), is_nearer);
    return std::move(kept_);
  }

 private:
  std::size_t most_;
  const std::function<bool(std::int64_t)>& admits_;
  std::vector<neighbours::near_one> kept_;  // a heap, the farthest in front
};

}  // namespace hondana::embeddings
