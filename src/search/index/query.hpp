/// What is searched for, as words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/index/store.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::search {

/// Of a query more words than this are left out, the last ones.
inline constexpr std::size_t most_query_words = 32;

/// The words of a query, each once, in their order.
[[nodiscard]] std::vector<wanted_word> words_of(const tokenizer::tokenizer& by, std::string_view query);

}  // namespace hondana::search
