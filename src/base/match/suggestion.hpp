/// Suggests a known name for a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hondana::match {

/// The text in `known` with the smallest edit distance to `typed` (insertions, deletions, replacements, transpositions). Empty
/// if the distance is more than one and more than a third of its length, or if every character differs. Among equals, the first
/// one wins.
[[nodiscard]] std::string_view nearest(std::string_view typed, std::span<const std::string_view> known);

/// Returns `; did you mean "X"?` with the `nearest` text after `prefix`; empty if there is none.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known,
                                       std::string_view prefix = {});

/// Describes an unknown name after its error: `; did you mean "X"? Known here: X, Y`, or `; known here: X, Y` if none is
/// similar.
[[nodiscard]] std::string suggest_known(std::string_view typed, std::span<const std::string_view> known);

}  // namespace hondana::match
