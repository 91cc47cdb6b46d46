/// Compares two scrapes, which are mostly alike.
#include "sources/metrics/scraping/standing_series.hpp"

#include <algorithm>
#include <utility>

namespace hondana::scraping {

void standing_series::mark_ended(samples::batch& into, std::size_t first, series::instant at) const {
  // Exporters keep their order: nearly always each stands behind the one before it.
  std::vector<const series::identity*> missing;
  std::size_t next = first;
  for (const auto& one : all_) {
    if (next < into.entries.size() && into.entries[next].of == one) {
      ++next;
    } else {
      missing.push_back(&one);
    }
  }
  if (missing.empty()) return;
  const auto in_order = [](const series::identity* a, const series::identity* b) { return *a < *b; };
  std::vector<const series::identity*> present;
  present.reserve(into.entries.size());
  for (const auto& entry : into.entries) present.push_back(&entry.of);
  std::sort(present.begin(), present.end(), in_order);
  std::vector<samples::batch::entry> markers;
  for (const auto* one : missing) {
    if (!std::binary_search(present.begin(), present.end(), one, in_order))
      markers.push_back({*one, {at, series::stale_marker()}});
  }
  into.entries.insert(into.entries.end(), std::make_move_iterator(markers.begin()), std::make_move_iterator(markers.end()));
}

void standing_series::replace(samples::batch kept, std::size_t first, series::instant at) {
  all_.clear();
  for (std::size_t i = first; i < kept.entries.size(); ++i) {
    auto& entry = kept.entries[i];
    if (entry.what.at == at && !series::is_stale(entry.what.value)) all_.push_back(std::move(entry.of));
  }
}

}  // namespace hondana::scraping
