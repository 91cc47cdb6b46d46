/// Words made to stand out in a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::cli {

/// The text with every place that has one of the words, in any case and width, in bold. Words of one ASCII letter are left out.
/// The text must be `visible`.
[[nodiscard]] std::string highlighted(std::string_view text, const std::vector<std::string>& words);

/// What is between the quotation marks of a reason that a search gives.
[[nodiscard]] std::vector<std::string> quoted_words(std::string_view reason);

}  // namespace hondana::cli
