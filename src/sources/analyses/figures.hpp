/// Figures and words in texts for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses_source {

/// With at most four decimals and no zeros at the end: 0.92.
[[nodiscard]] std::string decimals(double number);
/// "1 round", "3 rounds".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);
/// "840 ms", "84 s", "12 min".
[[nodiscard]] std::string time_text(analyses::milliseconds took);
/// "final", "stale", "below its thresholds", "being computed".
[[nodiscard]] std::string state_of(analyses::status how, bool is_stale);
/// Of what is counted in hits of so many lookups: "66.7 %"; "–" where there are none.
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole);

}  // namespace hondana::analyses_source
