/// URIs of searches, and queries as expressions of the index.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "search/index/embedded/fts_words.hpp"
#include "search/index/search_query.hpp"
#include "text/tokenizer/tokenizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto got = hondana::search::parse_address(text); got && got->query.limit == 0) __builtin_trap();
  static const auto by = hondana::tokenizer::make_trigram_tokenizer();
  const auto words = hondana::search::parse_words(*by, text);
  if (words.size() > hondana::search::max_query_words) __builtin_trap();
  const auto expression = hondana::search::match_expression(words, std::vector<bool>(words.size(), true));
  // Quotes stand around words only, two a word.
  std::size_t quotes = 0;
  for (const char c : expression) quotes += c == '"' ? 1 : 0;
  if (quotes != 2 * words.size()) __builtin_trap();
  return 0;
}
