/// Finding folded words in texts as they are written.
#include "app/cli/terminal/highlighting.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>

#include "text/language/language.hpp"

namespace hondana::cli {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view plain = "\x1b[0m";

}  // namespace

std::vector<std::string> quoted_words(std::string_view reason) {
  std::vector<std::string> out;
  for (;;) {
    const auto begin = reason.find('"');
    if (begin == std::string_view::npos) return out;
    const auto end = reason.find('"', begin + 1);
    if (end == std::string_view::npos) return out;
    out.emplace_back(reason.substr(begin + 1, end - begin - 1));
    reason.remove_prefix(end + 1);
  }
}

std::string highlighted(std::string_view text, const std::vector<std::string>& words) {
  const auto folded = language::folded_with_sources(text);
  std::vector<bool> stands_out(text.size(), false);
  for (const auto& written : words) {
    const auto word = language::folded(written);
    if (word.size() < 2) continue;
    for (auto at = folded.text.find(word); at != std::string::npos; at = folded.text.find(word, at + 1)) {
      // A Latin word begins where its letters do; what it ends with may be another form of it.
      if (ascii::is_lower_or_digit(word.front()) && at > 0 && ascii::is_lower_or_digit(folded.text[at - 1])) continue;
      const auto begin = folded.source[at];
      const auto end = folded.source[at + word.size()];
      std::fill(stands_out.begin() + static_cast<std::ptrdiff_t>(begin), stands_out.begin() + static_cast<std::ptrdiff_t>(end),
                true);
    }
  }
  std::string out;
  out.reserve(text.size() + 64);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before = i > 0 && stands_out[i - 1];
    if (stands_out[i] != before) out += stands_out[i] ? bold : plain;
    out += text[i];
  }
  if (!text.empty() && stands_out.back()) out += plain;
  return out;
}

}  // namespace hondana::cli
