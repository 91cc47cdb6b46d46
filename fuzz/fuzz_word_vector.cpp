/// Answers of a PostgreSQL that sends anything as a vector of words; and any words come back as they were put.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "search/index/postgres/tsvector.hpp"

using namespace hondana;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(search::for_each_occurrence(bytes, [](std::string_view, std::span<const search::occurrence> where) {
    for (const auto& one : where) {
      if (static_cast<std::size_t>(one.field) >= search::field_count || one.offset > 16'383) std::abort();
    }
  }));
  std::vector<tokenizer::token> words;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = std::min(bytes.find(' ', at), bytes.size());
    words.push_back({std::string(bytes.substr(at, end - at))});
    at = end + 1;
  }
  search::word_vector vector;
  vector.add(search::document_field::heading, words);
  vector.add(search::document_field::text, words);
  std::size_t count = 0;
  vector.for_each_word([&](const std::string&) { ++count; });
  const auto read =
      search::for_each_occurrence(vector.bytes(), [&](std::string_view word, std::span<const search::occurrence> where) {
        --count;
        if (word.empty() || where.empty() || word.size() > search::max_lexeme_bytes) std::abort();
      });
  if (!read || count != 0) std::abort();
  return 0;
}
