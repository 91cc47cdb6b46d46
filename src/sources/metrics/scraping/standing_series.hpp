/// Which series a target had at its last scrape, so that those that end are seen to.
#pragma once

#include <cstddef>
#include <vector>

#include "sources/metrics/samples/store.hpp"

namespace hondana::scraping {

/// Threads: one at a time.
class standing_series {
 public:
  /// Appends a stale marker for each that is not among the batch's entries; `first`: where those of the scrape begin.
  void mark_ended(samples::batch& into, std::size_t first, series::instant at) const;
  /// From now on: those of the entries from `first` on that are not stale and have no time of their own, since nobody knows of
  /// these when they end.
  void replace(samples::batch kept, std::size_t first, series::instant at);

 private:
  std::vector<series::identity> all_{};  // in the order in which they came
};

}  // namespace hondana::scraping
