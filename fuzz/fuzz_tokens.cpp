/// Any bytes cut into words: in order, within the text, no more and no longer than promised, and twice the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/language/language.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace {

using namespace hondana;

void check(const tokenizer::tokenizer& by, std::string_view text) {
  const auto folded = language::fold(text);
  const auto characters = static_cast<std::size_t>(
      std::count_if(folded.begin(), folded.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  for (const auto what_for : {tokenizer::tokenize_mode::index, tokenizer::tokenize_mode::query}) {
    const auto all = by.tokenize(text, what_for);
    const auto again = by.tokenize(text, what_for);
    if (all.size() != again.size() || all.size() > characters) std::abort();
    std::size_t last = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& one = all[i];
      if (one.text != again[i].text || one.text.empty() || one.text.size() > 256) std::abort();
      if (one.begin >= one.end || one.end > text.size() || one.begin < last) std::abort();
      if (one.is_prefix && what_for == tokenizer::tokenize_mode::index) std::abort();
      if (language::fold(one.text).empty()) std::abort();
      last = one.begin;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto trigrams = tokenizer::make_trigram_tokenizer();
  static const auto words = tokenizer::make_mecab_tokenizer().value_or(nullptr);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(*trigrams, text);
  if (words != nullptr) check(*words, text);
  return 0;
}
