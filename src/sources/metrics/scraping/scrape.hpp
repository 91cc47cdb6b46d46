/// One scrape of one target.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>

#include <hondana/error.hpp>

#include "sources/metrics/samples/store.hpp"
#include "sources/metrics/scraping/scraper.hpp"

namespace hondana::scraping {

struct scraped {
  bool is_up = false;
  bool is_cancelled = false;  ///< Nothing can be said of the target.
  std::string error{};        ///< Why it is not up.
  std::chrono::microseconds took{0};
  std::size_t samples = 0;
};

/// How many entries of a scrape's batch are about itself; they are the first.
inline constexpr std::size_t own_entries = 3;

/// Asks and fills `into`, which is empty: `up` and what belongs to it first, then what the target said, unless anything was
/// wrong with it. Blocks for `of.time` at most, where the target is a service.
[[nodiscard]] scraped scrape(const target& of, series::instant at, const std::stop_token& stop, samples::batch& into);

}  // namespace hondana::scraping
