/// Sorting samples without the temporary buffer that std::stable_sort takes.
#include "sources/metrics/series/order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hondana::series {

void put_in_order(std::vector<sample>& samples) {
  const auto is_out_of_order = [](const sample& a, const sample& b) { return a.at >= b.at; };
  if (std::adjacent_find(samples.begin(), samples.end(), is_out_of_order) == samples.end()) return;
  std::vector<std::pair<sample, std::size_t>> places;
  places.reserve(samples.size());
  for (const auto& one : samples) places.emplace_back(one, places.size());
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return a.first.at != b.first.at ? a.first.at < b.first.at : a.second < b.second;
  });
  samples.clear();
  for (const auto& [one, place] : places)
    if (samples.empty() || samples.back().at != one.at) samples.push_back(one);
}

}  // namespace hondana::series
