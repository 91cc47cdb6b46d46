/// The words for it.
#include "sources/docs/worth.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t longest_tag = 35;
constexpr std::size_t longest_subtag = 8;

constexpr std::array<std::pair<std::string_view, double>, 8> words{
    {{"high", 0.9}, {"middle", 0.5}, {"medium", 0.5}, {"normal", 0.5}, {"low", 0.2}, {"高", 0.9}, {"中", 0.5}, {"低", 0.2}}};

}  // namespace

std::optional<double> priority_named(std::string_view word) {
  if (word.size() > longest_word) return std::nullopt;
  const auto plain = language::folded(word);
  const auto* known = std::find_if(words.begin(), words.end(), [&plain](const auto& one) { return one.first == plain; });
  if (known == words.end()) return std::nullopt;
  return known->second;
}

std::optional<role> role_named(std::string_view word) {
  if (word == "user") return role::user;
  if (word == "assistant") return role::assistant;
  return std::nullopt;
}

bool is_language_tag(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_tag || !ascii::is_letter(text.front())) return false;
  std::size_t run = 0;
  for (const char c : text) {
    if (c == '-') {
      if (run == 0) return false;
      run = 0;
    } else if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      if (++run > longest_subtag) return false;
    } else {
      return false;
    }
  }
  return run > 0;
}

}  // namespace hondana::docs
