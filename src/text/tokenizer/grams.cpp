/// Overlapping pieces.
#include "text/tokenizer/grams.hpp"

#include <algorithm>
#include <string>

#include "base/ascii/utf8.hpp"

namespace hondana::tokenizer {
namespace {

std::size_t after(std::string_view folded, std::size_t at, std::size_t end) noexcept {
  return at >= end ? end : std::min(end, at + ascii::first_character(folded.substr(at)).bytes);
}

}  // namespace

void add_trigrams(found& into, std::size_t begin, std::size_t end) {
  const auto folded = into.folded();
  for (auto at = begin; at < end; at = after(folded, at, end)) {
    const auto second = after(folded, at, end);
    const auto third = after(folded, second, end);
    const auto to = after(folded, third, end);
    const bool is_whole = third < end;
    if (!is_whole && into.is_query() && at > begin) return;
    into.add(std::string(folded.substr(at, to - at)), at, to, worth::full, !is_whole && into.is_query());
  }
}

void add_bigrams(found& into, std::size_t begin, std::size_t end) {
  const auto folded = into.folded();
  for (auto at = begin; at < end; at = after(folded, at, end)) {
    const auto second = after(folded, at, end);
    if (second == end && at > begin) return;
    const auto to = after(folded, second, end);
    into.add(std::string(folded.substr(at, to - at)), at, to);
  }
}

}  // namespace hondana::tokenizer
