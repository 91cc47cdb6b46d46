/// "Did you mean": the word that somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hondana::cli {

/// The one of `known` that is fewest slips away from `typed` (letters more, fewer, other or swapped); empty when none is near:
/// within a third of its letters, at least one. Of equals the first.
[[nodiscard]] std::string_view nearest(std::string_view typed, std::span<const std::string_view> known);

/// `; did you mean "X"?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known,
                                       std::string_view before = {});

}  // namespace hondana::cli
