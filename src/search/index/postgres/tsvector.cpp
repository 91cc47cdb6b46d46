/// PostgreSQL's tsvector and tsquery in binary and text form.
#include "search/index/postgres/tsvector.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::search {
namespace {

/// Bytes for one word in addition to its text and positions.
constexpr std::size_t word_overhead = 12;

tl::unexpected<failure> malformed_vector() {
  return fail(errc::source_unavailable, "PostgreSQL returned words in an unknown format", "malformed tsvector");
}

/// Takes a big-endian 16-bit number from the front.
std::uint16_t consume_short(std::string_view& input) noexcept {
  const auto out = static_cast<std::uint16_t>(static_cast<unsigned char>(input[0]) << 8 | static_cast<unsigned char>(input[1]));
  input.remove_prefix(2);
  return out;
}

void append_short(std::string& target, std::size_t number) {
  target += static_cast<char>(number >> 8 & 0xFF);
  target += static_cast<char>(number & 0xFF);
}

std::size_t field_of(std::uint16_t position) noexcept {
  std::size_t out = 0;
  while (out + 1 < field_count && position >= field_begins[out + 1]) ++out;
  return out;
}

}  // namespace

std::string lexeme_of(std::string_view word) {
  if (!json::is_utf8(word)) return {};
  std::string out(word);
  for (auto position = out.find('\0'); position != std::string::npos; position = out.find('\0', position))
    out.replace(position, 1, "\xEF\xBF\xBF");
  if (out.size() > max_lexeme_bytes) {
    auto end = max_lexeme_bytes;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
    out.resize(end);
  }
  return out;
}

void word_vector::add(document_field field, std::span<const tokenizer::token> words) {
  const auto begin = field_begins[static_cast<std::size_t>(field)];
  const auto last = static_cast<std::uint16_t>(field_begins[static_cast<std::size_t>(field) + 1] - 1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = lexeme_of(words[i].text);
    if (word.empty()) continue;
    auto entry = words_.find(word);
    if (entry == words_.end()) {
      if (size_ + word.size() + word_overhead > max_vector_bytes) continue;
      size_ += word.size() + word_overhead;
      entry = words_.emplace(std::move(word), std::vector<std::uint16_t>()).first;
    }
    const auto position = i < static_cast<std::size_t>(last - begin) ? static_cast<std::uint16_t>(begin + i) : last;
    auto& positions = entry->second;
    if (positions.size() >= max_positions || (!positions.empty() && positions.back() >= position)) continue;
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
    for (const auto position : positions) append_short(out, (3 - field_of(position)) << 14 | position);
  }
  return out;
}

void word_vector::for_each_word(const std::function<void(const std::string&)>& visit) const {
  for (const auto& [word, positions] : words_) visit(word);
}

result<void> for_each_occurrence(std::string_view bytes, const occurrence_visitor& visit) {
  if (bytes.size() < 4) return malformed_vector();
  std::size_t words = consume_short(bytes);
  words = words << 16 | consume_short(bytes);
  std::vector<occurrence> occurrences;
  for (; words > 0; --words) {
    const auto end = bytes.find('\0');
    if (end == std::string_view::npos || bytes.size() - end < 3) return malformed_vector();
    const auto word = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    std::size_t positions = consume_short(bytes);
    if (bytes.size() < 2 * positions) return malformed_vector();
    occurrences.clear();
    occurrences.reserve(positions);
    for (; positions > 0; --positions) {
      const auto position = static_cast<std::uint16_t>(consume_short(bytes) & 0x3FFF);
      if (position == 0) return malformed_vector();
      const auto field = field_of(position);
      occurrences.push_back({static_cast<document_field>(field), static_cast<std::uint32_t>(position - field_begins[field])});
    }
    visit(word, occurrences);
  }
  return bytes.empty() ? result<void>() : malformed_vector();
}

std::string make_tsquery(std::span<const query_word> words, const std::vector<bool>& required) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!required[i]) continue;
    if (!out.empty()) out += " | ";
    out += '\'';
    for (const char c : lexeme_of(words[i].text)) {
      if (c == '\'' || c == '\\') out += c;
      out += c;
    }
    out += words[i].is_prefix ? "':*" : "'";
  }
  return out;
}

}  // namespace hondana::search
