/// PostgreSQL's tsvector and tsquery in binary and text form.
#include "search/index/postgres/tsvector.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::search {
namespace {

/// Bytes for one word in addition to its text and positions.
constexpr std::size_t of_each_word = 12;

tl::unexpected<failure> no_vector() {
  return fail(errc::source_unavailable, "PostgreSQL returned words in an unknown format", "malformed tsvector");
}

/// Takes a big-endian 16-bit number from the front.
std::uint16_t take_short(std::string_view& from) noexcept {
  const auto out = static_cast<std::uint16_t>(static_cast<unsigned char>(from[0]) << 8 | static_cast<unsigned char>(from[1]));
  from.remove_prefix(2);
  return out;
}

void append_short(std::string& to, std::size_t number) {
  to += static_cast<char>(number >> 8 & 0xFF);
  to += static_cast<char>(number & 0xFF);
}

std::size_t place_of(std::uint16_t position) noexcept {
  std::size_t out = 0;
  while (out + 1 < place_count && position >= begin_of_place[out + 1]) ++out;
  return out;
}

}  // namespace

std::string lexeme_of(std::string_view word) {
  if (!json::is_utf8(word)) return {};
  std::string out(word);
  for (auto at = out.find('\0'); at != std::string::npos; at = out.find('\0', at)) out.replace(at, 1, "\xEF\xBF\xBF");
  if (out.size() > longest_lexeme) {
    auto end = longest_lexeme;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
    out.resize(end);
  }
  return out;
}

void word_vector::add(place where, std::span<const tokenizer::token> words) {
  const auto begin = begin_of_place[static_cast<std::size_t>(where)];
  const auto last = static_cast<std::uint16_t>(begin_of_place[static_cast<std::size_t>(where) + 1] - 1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = lexeme_of(words[i].text);
    if (word.empty()) continue;
    auto found = words_.find(word);
    if (found == words_.end()) {
      if (size_ + word.size() + of_each_word > most_of_a_vector) continue;
      size_ += word.size() + of_each_word;
      found = words_.emplace(std::move(word), std::vector<std::uint16_t>()).first;
    }
    const auto position = i < static_cast<std::size_t>(last - begin) ? static_cast<std::uint16_t>(begin + i) : last;
    auto& positions = found->second;
    if (positions.size() >= most_positions || (!positions.empty() && positions.back() >= position)) continue;
    positions.push_back(position);
    size_ += 2;
  }
}

std::string word_vector::bytes() const {
  std::string out;
  out.reserve(size_ + 4);
  append_short(out, words_.size() >> 16);
  append_short(out, words_.size() & 0xFFFF);
  for (const auto& [word, positions] : words_) {
    out += word;
    out += '\0';
    append_short(out, positions.size());
    // The two highest bits are the weight; 3 is A.
    for (const auto one : positions) append_short(out, (3 - place_of(one)) << 14 | one);
  }
  return out;
}

void word_vector::each_word(const std::function<void(const std::string&)>& each) const {
  for (const auto& [word, positions] : words_) each(word);
}

result<void> each_standing(std::string_view bytes, const standing_hearer& each) {
  if (bytes.size() < 4) return no_vector();
  std::size_t words = take_short(bytes);
  words = words << 16 | take_short(bytes);
  std::vector<standing> all;
  for (; words > 0; --words) {
    const auto end = bytes.find('\0');
    if (end == std::string_view::npos || bytes.size() - end < 3) return no_vector();
    const auto word = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    std::size_t positions = take_short(bytes);
    if (bytes.size() < 2 * positions) return no_vector();
    all.clear();
    all.reserve(positions);
    for (; positions > 0; --positions) {
      const auto position = static_cast<std::uint16_t>(take_short(bytes) & 0x3FFF);
      if (position == 0) return no_vector();
      const auto where = place_of(position);
      all.push_back({static_cast<place>(where), static_cast<std::uint32_t>(position - begin_of_place[where])});
    }
    each(word, all);
  }
  return bytes.empty() ? result<void>() : no_vector();
}

std::string query_of(std::span<const wanted_word> words, const std::vector<bool>& decides) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!decides[i]) continue;
    if (!out.empty()) out += " | ";
    out += '\'';
    for (const char one : lexeme_of(words[i].text)) {
      if (one == '\'' || one == '\\') out += one;
      out += one;
    }
    out += words[i].is_prefix ? "':*" : "'";
  }
  return out;
}

}  // namespace hondana::search
