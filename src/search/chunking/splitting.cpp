/// Ends of sentences, and cuts where there are none.
#include "search/chunking/splitting.hpp"

#include <algorithm>

#include "text/markup/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::chunking {
namespace {

using ascii::is_space;
using markup::character_at;

bool closes(char32_t point) noexcept {
  constexpr std::u32string_view marks = U"\"')]」』）】〕》〉”’»＂";
  return marks.find(point) != std::u32string_view::npos;
}
bool ends_japanese(char32_t point) noexcept { return point == U'。' || point == U'！' || point == U'？' || point == U'｡'; }

/// No character has more bytes.
constexpr std::size_t longest_character = 4;

/// Where a row of marks ends that close what has ended, and whether the last of them ends a Japanese sentence itself.
struct closing_row {
  std::size_t end;
  bool is_end_last;
};

closing_row behind_closing(std::string_view text, std::size_t at, bool is_end) noexcept {
  closing_row out{at, is_end};
  while (out.end < text.size()) {
    const auto one = character_at(text, out.end);
    const bool ends = ends_japanese(one.point);
    if (!ends && !closes(one.point)) break;
    out.end += one.bytes;
    out.is_end_last = ends;
  }
  return out;
}

/// What stands at a character that may end a sentence.
struct ending {
  std::size_t end = 0;   ///< Behind the sentence; 0: none ends there.
  std::size_t next = 0;  ///< Before it there is nothing else to be seen: each row of marks is gone through once.
};

ending ends_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == '.' || byte == '!' || byte == '?') {
    const auto end = behind_closing(text, at + 1, false).end;
    const bool is_set_off = end >= text.size() || is_space(text[end]);
    // "1." begins an item, and "e." an abbreviation.
    const bool is_number =
        byte == '.' && at < 3 &&
        std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), [](char c) { return ascii::is_digit(c); });
    const bool is_letter = byte == '.' && at >= 2 && text[at - 2] == '.';
    return {is_set_off && !is_number && !is_letter ? end : 0, at + 1};
  }
  if (byte != 0xE3 && byte != 0xEF) return {0, at + 1};
  const auto one = character_at(text, at);
  if (!ends_japanese(one.point)) return {0, at + 1};
  const auto behind = behind_closing(text, at + one.bytes, true);
  // 「…。」と言った: the sentence goes on behind what somebody said.
  if (!behind.is_end_last && behind.end < text.size()) {
    const auto next = character_at(text, behind.end).point;
    if (next >= U'ぁ' && next <= U'ん') return {0, behind.end};
  }
  return {behind.end, behind.end};
}

std::size_t whole_characters(std::string_view text, std::size_t from, std::size_t end) noexcept {
  const auto limit = end;
  end = markup::boundary_before(text, end);
  // A long row of combining marks is no text that anybody reads: it is cut somewhere.
  for (int tries = 0; tries < 16 && end > from && end < text.size(); ++tries) {
    if (!markup::is_mark(character_at(text, end).point)) break;
    end = markup::boundary_before(text, end - 1);
  }
  if (end > from) return end;
  end = markup::boundary_before(text, limit);
  return end > from ? end : std::min(text.size(), from + character_at(text, from).bytes);
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::size_t from, std::size_t most) noexcept {
  const auto limit = std::min(text.size(), from + most);
  const auto seen = text.substr(from, limit - from + longest_character);
  for (std::size_t at = 0; at < limit - from;) {
    const auto byte = static_cast<unsigned char>(seen[at]);
    if (byte != '.' && byte != '!' && byte != '?' && byte != 0xE3 && byte != 0xEF) {
      ++at;
      continue;
    }
    const auto [end, next] = ends_at(seen, at);
    if (end != 0 && from + end <= limit) return from + end;
    at = next;
  }
  return limit == text.size() ? limit : whole_characters(text, from, limit);
}

std::size_t best_cut(std::string_view text, std::size_t from, std::size_t most) noexcept {
  if (text.size() - from <= most) return text.size();
  const auto limit = from + most;
  const auto lowest = from + most / 4;
  std::size_t sentence = 0;
  std::size_t line = 0;
  std::size_t word = 0;
  std::size_t clause = 0;
  std::size_t next = 0;
  for (auto at = lowest; at < limit; at = next) {
    next = at + 1;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n') {
      line = at + 1;
    } else if (is_space(text[at])) {
      word = at + 1;
    } else if (byte == ',' || byte == ';' || text.substr(at, 3) == "、") {
      const auto behind = at + (byte < 0x80 ? 1 : 3);
      if (behind <= limit) clause = behind;
    } else if (byte == '.' || byte == '!' || byte == '?' || byte == 0xE3 || byte == 0xEF) {
      const auto ended = ends_at(text.substr(0, limit + 1), at);
      if (ended.end != 0 && ended.end <= limit) sentence = ended.end;
      next = ended.next;
    }
  }
  for (const auto cut : {sentence, line, word, clause})
    if (cut > from) return cut;
  return whole_characters(text, from, limit);
}

}  // namespace hondana::chunking
