/// Stems by Snowball.
#include "text/tokenizer/stemmer.hpp"

#include <libstemmer.h>

#include <algorithm>
#include <new>

#include "base/ascii/characters.hpp"

namespace hondana::tokenizer {
namespace {

constexpr std::size_t longest_stemmed = 64;

}  // namespace

void stemmer::closing::operator()(sb_stemmer* one) const noexcept { sb_stemmer_delete(one); }

stemmer::stemmer() : porter_(sb_stemmer_new("english", "UTF_8")) {
  // English is in every build of the library.
  if (porter_ == nullptr) throw std::bad_alloc();
}

std::string stemmer::stem_of(std::string_view word) {
  const auto is_plain = [](char c) { return ascii::is_letter(c) || c == '\'' || static_cast<unsigned char>(c) >= 0x80; };
  const auto is_latin = [](char c) { return ascii::is_letter(c); };
  if (word.size() > longest_stemmed || !std::all_of(word.begin(), word.end(), is_plain) ||
      std::none_of(word.begin(), word.end(), is_latin))
    return std::string(word);
  const auto* const stem =
      sb_stemmer_stem(porter_.get(), reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(stem), static_cast<std::size_t>(sb_stemmer_length(porter_.get()))};
}

}  // namespace hondana::tokenizer
