/// Choosing the words that decide what is looked at.
#include "search/index/bm25.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace hondana::search
