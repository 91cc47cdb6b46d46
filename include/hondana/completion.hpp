/// Choosing and ranking the values of a completion, as the providers here do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// The values that fit what was typed, the best first: those that begin with it, then those that do but for upper and lower
/// case (of ASCII), then those it is made of the beginnings of words of (`fb` in `foo_bar` and `fooBar`), then those that have
/// its letters in order; of equal ones the shorter first. Everything fits an empty text, in the order given. A value given
/// twice is sent once. At most 100, with the number of all as the total.
///
/// Text is taken as UTF-8; what is not well-formed is compared byte by byte. Threads: any.
/// Spec: server/utilities/completion#implementation-considerations, all revisions.
[[nodiscard]] complete_result complete_from(std::string_view typed, const std::vector<std::string>& values);

}  // namespace hondana::inline v0
