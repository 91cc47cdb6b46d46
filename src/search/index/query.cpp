/// Cutting queries.
#include "search/index/query.hpp"

#include <algorithm>

namespace hondana::search {

std::vector<wanted_word> words_of(const tokenizer::tokenizer& by, std::string_view query) {
  std::vector<wanted_word> out;
  std::size_t end = std::string_view::npos;
  for (auto& one : by.tokens_of(query, tokenizer::purpose::query)) {
    if (out.size() == most_query_words) break;
    const bool is_behind = one.begin == end;
    end = one.end;
    const auto is_same = [&one](const wanted_word& other) { return other.text == one.text; };
    if (std::any_of(out.begin(), out.end(), is_same)) {
      end = std::string_view::npos;
      continue;
    }
    out.push_back({std::move(one.text), one.is_prefix, is_behind && !out.empty()});
  }
  return out;
}

}  // namespace hondana::search
