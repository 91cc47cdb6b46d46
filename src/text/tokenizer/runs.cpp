/// Parts of a text and runs of characters.
#include "text/tokenizer/runs.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii/utf8.hpp"
#include "text/tokenizer/grams.hpp"
#include "text/tokenizer/latin_words.hpp"
#include "text/tokenizer/scripts.hpp"

namespace hondana::tokenizer {
namespace {

/// How much is folded at once: what that needs is nine times as much.
constexpr std::size_t part_bytes = std::size_t{64} * 1024;

/// Where a part that begins at `from` ends: after a space where there is one in its second half, and never in a character.
std::size_t end_of_part(std::string_view text, std::size_t from) noexcept {
  if (text.size() - from <= part_bytes) return text.size();
  const auto part = text.substr(from, part_bytes);
  const auto space = part.find_last_of(" \n\t\r");
  if (space != std::string_view::npos && space >= part_bytes / 2) return from + space + 1;
  auto end = from + part_bytes;
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++i) --end;
  return end;
}

/// Where the run that begins at `at` ends, at most `longest_run` characters later.
std::size_t end_of_run(std::string_view folded, std::size_t at, writing which) noexcept {
  for (std::size_t count = 0; at < folded.size() && count < longest_run; ++count) {
    const auto c = ascii::first_character(folded.substr(at));
    if (writing_of(c.code) != which) break;
    at += c.bytes;
  }
  return at;
}

void cut_part(found& into, std::string_view text, japanese_cutter& japanese, stemmer& latin) {
  const auto folded = into.folded();
  for (std::size_t at = 0; at < folded.size();) {
    const auto c = ascii::first_character(folded.substr(at));
    const auto which = writing_of(c.code);
    if (which == writing::gap) {
      at += c.bytes;
      continue;
    }
    if (which == writing::word) {
      at = take_latin_word(into, text, at, latin);
      continue;
    }
    const auto end = end_of_run(folded, at, which);
    if (which == writing::japanese)
      japanese.cut(into, at, end);
    else if (which == writing::hangul)
      add_bigrams(into, at, end);
    else
      add_trigrams(into, at, end);
    at = end;
  }
}

}  // namespace

std::vector<token> cut_text(std::string_view text, purpose what_for, japanese_cutter& japanese, stemmer& latin) {
  found into(what_for);
  for (std::size_t from = 0; from < text.size();) {
    const auto end = end_of_part(text, from);
    const auto part = language::folded_with_sources(text.substr(from, end - from));
    into.begin_part(part, from);
    cut_part(into, text, japanese, latin);
    from = end;
  }
  return std::move(into).finish();
}

}  // namespace hondana::tokenizer
