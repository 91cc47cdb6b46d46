/// Cuts words out of UTF-8.
#include "lsa/words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace lsa {
namespace {

constexpr std::size_t shortest_stem = 3;
constexpr std::size_t longest_word = 40;

/// What is ill-formed counts as a space.
char32_t next_of(std::string_view& text) {
  const auto octet = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = octet(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  char32_t out = size == 1 ? first : size == 0 ? U' ' : first & (0x7Fu >> size);
  std::size_t i = 1;
  for (; i < size && i < text.size() && (octet(i) & 0xC0) == 0x80; ++i) out = out << 6 | (octet(i) & 0x3Fu);
  if (i < size) out = U' ';
  text.remove_prefix(i);
  return out;
}

void append(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12);
    } else {
      out += static_cast<char>(0xF0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (c & 0x3F));
}

char32_t narrow_lower(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;
  return c >= U'A' && c <= U'Z' ? c + 32 : c;
}

bool is_of_a_word(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9') || (c >= 0xC0 && c < 0x250 && c != 0xD7 && c != 0xF7);
}

/// Kana with the long vowel mark, and Han with the mark that repeats one.
bool is_of_a_pair(char32_t c) {
  return (c >= 0x3041 && c <= 0x3096) || (c >= 0x30A1 && c <= 0x30FA) || c == 0x30FC || c == 0x3005 ||
         (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}

std::string stem_of(std::string word) {
  constexpr std::array<std::string_view, 9> endings{"ations", "ation", "ings", "ing", "ies", "ed", "es", "ly", "s"};
  for (const auto ending : endings) {
    if (word.size() >= shortest_stem + ending.size() && word.ends_with(ending)) {
      word.resize(word.size() - ending.size());
      break;
    }
  }
  // "index" and "indexes", "cache" and "caches", "query" and "queries".
  if (word.size() > shortest_stem && (word.back() == 'e' || word.back() == 'y')) word.pop_back();
  return word;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  std::string before;
  bool is_paired = false;
  const auto end_of_word = [&] {
    if (!word.empty() && word.size() <= longest_word) out.push_back(stem_of(word));
    word.clear();
  };
  const auto end_of_pairs = [&] {
    if (!before.empty() && !is_paired) out.push_back(before);
    before.clear();
    is_paired = false;
  };
  while (!text.empty()) {
    const auto c = narrow_lower(next_of(text));
    if (!is_of_a_word(c)) end_of_word();
    if (!is_of_a_pair(c)) end_of_pairs();
    if (is_of_a_word(c)) {
      append(word, c);
    } else if (is_of_a_pair(c)) {
      std::string one;
      append(one, c);
      if (!before.empty()) {
        out.push_back(before + one);
        is_paired = true;
      }
      before = std::move(one);
    }
  }
  end_of_word();
  end_of_pairs();
  return out;
}

}  // namespace lsa
