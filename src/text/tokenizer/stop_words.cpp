/// Short lists of frequent words.
#include "text/tokenizer/stop_words.hpp"

#include <algorithm>
#include <array>

namespace hondana::tokenizer {
namespace {

constexpr std::array<std::string_view, 61> english_words = {
    "a",    "about", "an",    "and",   "are",   "as",    "at",   "be",   "been", "but", "by",  "can", "could",
    "did",  "do",    "does",  "for",   "from",  "had",   "has",  "have", "how",  "i",   "if",  "in",  "into",
    "is",   "it",    "its",   "me",    "my",    "no",    "not",  "of",   "on",   "or",  "our", "so",  "such",
    "that", "the",   "their", "then",  "there", "these", "they", "this", "to",   "us",  "was", "we",  "were",
    "what", "when",  "where", "which", "who",   "why",   "will", "with", "you"};

constexpr std::array<std::string_view, 24> japanese_words = {
    "する", "為る", "ある", "有る", "いる", "居る", "なる", "成る",   "できる", "出来る", "どう", "こう",
    "そう", "ああ", "もう", "また", "まだ", "なぜ", "どの", "いかが", "こと",   "もの",   "ため", "よう"};

}  // namespace

bool is_english_stop_word(std::string_view word) noexcept {
  static_assert(std::is_sorted(english_words.begin(), english_words.end()));
  return std::binary_search(english_words.begin(), english_words.end(), word);
}

bool is_japanese_stop_word(std::string_view base) noexcept {
  return std::find(japanese_words.begin(), japanese_words.end(), base) != japanese_words.end();
}

}  // namespace hondana::tokenizer
