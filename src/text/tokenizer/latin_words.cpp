/// Cutting words that are written with spaces.
#include "text/tokenizer/latin_words.hpp"
#include "base/ascii/characters.hpp"

#include <string>

#include "base/ascii/utf8.hpp"
#include "text/tokenizer/scripts.hpp"
#include "text/tokenizer/stop_words.hpp"

namespace hondana::tokenizer {
namespace {

/// Where the letters and digits from here on end.
std::size_t end_of_letters(std::string_view folded, std::size_t at) noexcept {
  while (at < folded.size()) {
    const auto c = ascii::first_character(folded.substr(at));
    if (writing_of(c.code) != writing::word) break;
    at += c.bytes;
  }
  return at;
}

/// After an apostrophe at `at` with an ending of one or two letters: where that ends; else `at`.
std::size_t end_of_ending(std::string_view folded, std::size_t at) noexcept {
  const auto rest = folded.substr(at);
  const std::size_t mark = rest.substr(0, 1) == "'" ? 1 : rest.substr(0, 3) == "\u2019" ? 3 : 0;
  if (mark == 0) return at;
  const auto end = end_of_letters(folded, at + mark);
  return end > at + mark && end <= at + mark + 2 ? end : at;
}

class word_cutter {
 public:
  word_cutter(found& into, std::string_view text, stemmer& by) noexcept : into_(into), text_(text), by_(by) {}

  std::size_t take(std::size_t begin) {
    const auto folded = into_.folded();
    auto end = end_of_letters(folded, begin);
    const auto joined_end = end_of_joined(end);
    if (joined_end == end) {
      const auto with_ending = end_of_ending(folded, end);
      if (with_ending != end) {
        auto word = std::string(folded.substr(begin, end - begin)).append(1, '\'');
        const auto mark = folded[end] == '\'' ? 1u : 3u;
        add_word(word.append(folded.substr(end + mark, with_ending - end - mark)), begin, with_ending);
        return with_ending;
      }
      take_part(begin, end);
      return end;
    }
    if (joined_end - begin <= longest_token)
      into_.add(std::string(folded.substr(begin, joined_end - begin)), begin, joined_end);
    for (;;) {
      take_part(begin, end);
      if (end == joined_end) return end;
      begin = folded.find_first_not_of("_.", end);
      end = end_of_letters(folded, begin);
    }
  }

 private:
  /// Where a name goes on after `_` or one `.`, to its end.
  [[nodiscard]] std::size_t end_of_joined(std::size_t end) const noexcept {
    const auto folded = into_.folded();
    for (;;) {
      auto next = end;
      if (next < folded.size() && folded[next] == '.') {
        ++next;
      } else {
        while (next < folded.size() && folded[next] == '_') ++next;
      }
      const auto after = next == end ? end : end_of_letters(folded, next);
      if (after == next || after == end) return end;
      end = after;
    }
  }

  void add_word(std::string_view word, std::size_t begin, std::size_t end) {
    const auto is = into_.is_query() && is_english_stop_word(word) ? worth::little : worth::full;
    into_.add(by_.stem_of(word), begin, end, is);
  }

  void take_part(std::size_t begin, std::size_t end) {
    const auto folded = into_.folded();
    add_word(folded.substr(begin, end - begin), begin, end);
    // Only ASCII, which is as long folded as it was, shows where the parts are.
    const auto from = into_.source_of(begin);
    const auto written = text_.substr(from, into_.source_of(end) - from);
    if (written.size() != end - begin || !ascii::is_same(written, folded.substr(begin, end - begin))) return;
    std::size_t part = 0;
    for (std::size_t i = 1; i <= written.size(); ++i) {
      const bool is_end = i == written.size();
      const bool is_boundary =
          !is_end && ascii::is_upper(written[i]) &&
          (!ascii::is_upper(written[i - 1]) || (i + 1 < written.size() && ascii::is_lower(written[i + 1])));
      if (!is_boundary && (!is_end || part == 0)) continue;
      if (i - part >= 2) add_word(folded.substr(begin + part, i - part), begin + part, begin + i);
      part = i;
    }
  }

  found& into_;
  std::string_view text_;
  stemmer& by_;
};

}  // namespace

std::size_t take_latin_word(found& into, std::string_view text, std::size_t at, stemmer& by) {
  return word_cutter(into, text, by).take(at);
}

}  // namespace hondana::tokenizer
