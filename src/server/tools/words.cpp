/// Finding words and lines.
#include "server/tools/words.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::tools {
namespace {

constexpr std::size_t most_words = 16;
constexpr std::size_t longest_passage = 400;

/// Where lines begin, and one more: the end.
std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) starts.push_back(at + 1);
  if (starts.back() != text.size()) starts.push_back(text.size());
  return starts;
}

/// What fits of a line, with the byte at `around` in it.
std::string cut(std::string_view line, std::size_t around) {
  if (line.size() <= longest_passage) return std::string(line);
  constexpr std::size_t before = 100;
  auto begin = around > before ? around - before : 0;
  while (begin < around && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) ++begin;
  auto shorter = line.substr(begin, longest_passage);
  const bool has_more = begin + shorter.size() < line.size();
  shorter.remove_suffix(json::incomplete_tail(shorter));
  return (begin == 0 ? "" : "…") + std::string(shorter) + (has_more ? "…" : "");
}

}  // namespace

std::vector<std::string> words_of(std::string_view query) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < query.size() && words.size() < most_words;) {
    if (ascii::is_space(query[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < query.size() && !ascii::is_space(query[end])) ++end;
    auto word = ascii::in_lower_case(query.substr(at, end - at));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    at = end;
  }
  return words;
}

presence presence_of(std::string_view text, std::string_view word) noexcept {
  auto found = presence::absent;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool is_beyond_ascii = static_cast<unsigned char>(word.front()) >= 0x80;
    if (at == 0 || is_beyond_ascii || !ascii::is_lower_or_digit(text[at - 1])) return presence::at_word_start;
    found = presence::inside;
  }
  return found;
}

passage best_passage(std::string_view text, const std::vector<std::string>& words) {
  passage best;
  best.in_text.assign(words.size(), false);
  const auto starts = line_starts(text);
  std::size_t most = 0;
  std::size_t best_line = 0;
  std::size_t first_in_line = 0;
  for (std::size_t line = 0; line + 1 < starts.size(); ++line) {
    const auto here = ascii::in_lower_case(text.substr(starts[line], starts[line + 1] - starts[line]));
    std::size_t count = 0;
    std::size_t first_word = here.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto at = here.find(words[i]);
      if (at == std::string::npos) continue;
      first_word = std::min(first_word, at);
      best.in_text[i] = true;
      ++count;
    }
    if (count > most) {
      most = count;
      best_line = line;
      first_in_line = first_word;
    }
  }
  best.in_one_line = most;
  if (most == 0) return best;
  const auto first = best_line == 0 ? 0 : best_line - 1;
  const auto last = std::min(best_line + 1, starts.size() - 2);
  best.first_line = first + 1;
  best.last_line = last + 1;
  const auto whole = text.substr(starts[first], starts[last + 1] - starts[first]);
  // A long line before the one that matters would fill the passage.
  best.text = whole.size() <= longest_passage
                  ? std::string(whole)
                  : cut(text.substr(starts[best_line], starts[best_line + 1] - starts[best_line]), first_in_line);
  if (whole.size() > longest_passage) best.first_line = best.last_line = best_line + 1;
  while (!best.text.empty() && best.text.back() == '\n') best.text.pop_back();
  return best;
}

}  // namespace hondana::tools
