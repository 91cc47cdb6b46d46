/// Matches and ranks values against the text that a user has typed, and computes completions.
#include "base/match/fuzzy_match.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_set>

#include <hondana/completion.hpp>

#include "base/ascii/ascii.hpp"

namespace hondana::match {
namespace {

constexpr std::size_t max_query_code_points = 64;
constexpr std::size_t max_value_bytes = 8192;
constexpr auto no_match = std::numeric_limits<std::uint16_t>::max();
constexpr std::string_view separators = "/_-.,:;~+ ";

using ascii::to_lower;

enum class character_class : std::uint8_t { separator, digit, upper, lower, other, beyond_ascii };

character_class character_class_of(char32_t c) noexcept {
  if (c >= 0x80) return character_class::beyond_ascii;
  if (c >= U'0' && c <= U'9') return character_class::digit;
  if (c >= U'A' && c <= U'Z') return character_class::upper;
  if (c >= U'a' && c <= U'z') return character_class::lower;
  return separators.find(static_cast<char>(c)) != std::string_view::npos ? character_class::separator : character_class::other;
}

/// The length in bytes of the code point at `position`; 1 for a malformed byte.
std::size_t code_point_size(std::string_view text, std::size_t position) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const auto lead = byte(position);
  const std::size_t size = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
  if (size > text.size() - position) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(position + i) & 0xC0) != 0x80) return 1;
  }
  return size;
}

bool has_folded_prefix(std::string_view value, std::string_view query) noexcept {
  return ascii::starts_with_ignore_case(value, query);
}

}  // namespace

matcher::matcher(std::string_view query, match_scope scope)
    : query_(query), scope_(scope), has_slash_(query.find('/') != std::string_view::npos) {
  split(query, query_letters_);
  for (auto& c : query_letters_) c = to_lower(c);
}

void matcher::split(std::string_view text, std::vector<letter>& out) {
  out.clear();
  for (std::size_t position = 0; position < text.size();) {
    const auto size = code_point_size(text, position);
    // Pack the bytes of a code point into one number. Codes below 0x80 are ASCII; a stray byte never equals a sequence.
    letter code = static_cast<unsigned char>(text[position]);
    for (std::size_t i = 1; i < size; ++i) code = code << 8 | static_cast<unsigned char>(text[position + i]);
    out.push_back(code);
    position += size;
  }
}

/// A fast necessary condition: the typed bytes occur in `value` in order.
bool matcher::may_match(std::string_view value) const noexcept {
  std::size_t next = 0;
  for (const char c : value) {
    if (to_lower(c) == to_lower(query_[next]) && ++next == query_.size()) return true;
  }
  return false;
}

void matcher::mark_words() {
  starts_word_.assign(letters_.size(), 0);
  auto previous = character_class::separator;
  for (std::size_t i = 0; i < letters_.size(); ++i) {
    const auto current = character_class_of(letters_[i]);
    const bool is_hump = previous == character_class::upper && current == character_class::upper && i + 1 < letters_.size() &&
                         character_class_of(letters_[i + 1]) == character_class::lower;  // the S of HTTPServer
    const bool continues = current == previous || (previous == character_class::upper && current == character_class::lower);
    starts_word_[i] = current == character_class::separator || !continues || is_hump ? 1 : 0;
    previous = current;
  }
}

std::optional<std::uint32_t> matcher::count_pieces(std::size_t begin, std::size_t last) {
  row_.assign(letters_.size(), no_match);
  next_row_.assign(letters_.size(), no_match);
  for (auto i = begin; i < letters_.size(); ++i) {
    if (starts_word_[i] != 0 && to_lower(letters_[i]) == query_letters_[0]) row_[i] = 1;
  }
  for (std::size_t index = 1; index < query_letters_.size(); ++index) {
    auto lowest = no_match;  // lowest cost of the previous letter at any earlier position
    for (auto i = begin; i < letters_.size(); ++i) {
      next_row_[i] = no_match;
      if (to_lower(letters_[i]) == query_letters_[index]) {
        if (i > begin) next_row_[i] = row_[i - 1];
        if (starts_word_[i] != 0 && lowest != no_match) {
          next_row_[i] = std::min(next_row_[i], static_cast<std::uint16_t>(lowest + 1));
        }
      }
      lowest = std::min(lowest, row_[i]);
    }
    row_.swap(next_row_);
  }
  const auto start = row_.begin() + static_cast<std::ptrdiff_t>(std::max(begin, last));
  const auto minimum = start == row_.end() ? no_match : *std::min_element(start, row_.end());
  return minimum == no_match ? std::nullopt : std::optional<std::uint32_t>(minimum);
}

std::optional<std::uint32_t> matcher::count_gaps(std::size_t begin, std::size_t last) const {
  auto position = begin;
  for (std::size_t forward = 0; forward < query_letters_.size(); ++forward, ++position) {
    if (forward + 1 == query_letters_.size()) position = std::max(position, last);
    while (position < letters_.size() && to_lower(letters_[position]) != query_letters_[forward]) ++position;
    if (position >= letters_.size()) return std::nullopt;
  }
  // `position` is behind the earliest end. Search backwards from there for the start with the fewest skipped letters.
  const auto end = position;
  for (auto backward = query_letters_.size(); backward-- > 0;) {
    do --position;
    while (to_lower(letters_[position]) != query_letters_[backward]);
  }
  return static_cast<std::uint32_t>(end - position - query_letters_.size());
}

std::optional<match_quality> matcher::operator()(std::string_view value) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(value.size(), UINT32_MAX));
  const auto slash = value.rfind('/');
  const bool has_segments = slash != std::string_view::npos && slash + 1 < value.size();
  const auto last_byte = has_segments ? slash + 1 : 0;
  const bool is_in_scope = scope_ == match_scope::anywhere || query_.size() > last_byte;
  if (query_.empty()) return match_quality{};
  if (is_in_scope && value.starts_with(query_)) return match_quality{match_tier::prefix, 0, length};
  if (is_in_scope && has_folded_prefix(value, query_)) return match_quality{match_tier::folded_prefix, 0, length};
  if (query_letters_.size() > max_query_code_points || value.size() > max_value_bytes || !may_match(value)) return std::nullopt;

  split(value, letters_);
  mark_words();
  std::size_t last_letter = 0;
  if (has_segments) {
    const auto last_slash = std::find(letters_.rbegin(), letters_.rend(), U'/');
    last_letter = static_cast<std::size_t>(letters_.rend() - last_slash);
  }
  const auto last = scope_ == match_scope::anywhere ? 0 : last_letter;
  const bool is_name_first = last_letter > 0 && !has_slash_;
  if (is_name_first) {
    if (const auto name_pieces = count_pieces(last_letter, 0))
      return match_quality{match_tier::word_starts, *name_pieces * 2, length};
  }
  if (const auto path_pieces = count_pieces(0, last))
    return match_quality{match_tier::word_starts, *path_pieces * 2 + (is_name_first ? 1 : 0), length};
  if (is_name_first) {
    if (const auto name_gaps = count_gaps(last_letter, 0))
      return match_quality{match_tier::subsequence, *name_gaps * 2, length};
  }
  if (const auto path_gaps = count_gaps(0, last))
    return match_quality{match_tier::subsequence, *path_gaps * 2 + (is_name_first ? 1 : 0), length};
  return std::nullopt;
}

}  // namespace hondana::match

namespace hondana::inline v0 {
namespace {

constexpr std::size_t max_values = 100;

struct ranked_value {
  match::match_quality quality;
  const std::string* value;
  std::size_t index;

  bool operator<(const ranked_value& other) const noexcept {
    if (quality != other.quality) return quality < other.quality;
    return index < other.index;
  }
};

}  // namespace

complete_result complete_from(std::string_view typed, const std::vector<std::string>& values) {
  match::matcher matcher(typed);
  match::top_k<ranked_value> best(max_values);
  std::unordered_set<std::string_view> unique_values;
  for (std::size_t index = 0; index < values.size(); ++index) {
    const auto quality = matcher(values[index]);
    if (quality && unique_values.insert(values[index]).second) best.add({*quality, &values[index], index});
  }
  complete_result result;
  result.total = best.count();
  for (const auto& entry : best.extract_sorted()) result.values.push_back(*entry.value);
  result.has_more = result.values.size() < *result.total;
  return result;
}

}  // namespace hondana::inline v0
