/// What a text is made of, for latent semantic analysis: nothing clever, and nothing of the search that is judged by it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lsa {

/// Latin words in lower case without common endings, and of Chinese and Japanese characters each pair of neighbours; single
/// ones where there is no neighbour. Full-width letters and digits count as narrow ones.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace lsa
