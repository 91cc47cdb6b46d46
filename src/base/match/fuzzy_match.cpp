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

constexpr std::size_t longest_scattered = 64;   // code points
constexpr std::size_t longest_searched = 8192;  // bytes of a value
constexpr auto no_way = std::numeric_limits<std::uint16_t>::max();
constexpr std::string_view separators = "/_-.,:;~+ ";

using ascii::lower;

enum class sort : std::uint8_t { separator, digit, upper, lower, other, beyond_ascii };

sort sort_of(char32_t c) noexcept {
  if (c >= 0x80) return sort::beyond_ascii;
  if (c >= U'0' && c <= U'9') return sort::digit;
  if (c >= U'A' && c <= U'Z') return sort::upper;
  if (c >= U'a' && c <= U'z') return sort::lower;
  return separators.find(static_cast<char>(c)) != std::string_view::npos ? sort::separator : sort::other;
}

/// The length in bytes of the code point at `at`; 1 for a malformed byte.
std::size_t size_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const auto front = byte(at);
  const std::size_t size = front < 0xC2 ? 1 : front < 0xE0 ? 2 : front < 0xF0 ? 3 : front < 0xF5 ? 4 : 1;
  if (size > text.size() - at) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 1;
  }
  return size;
}

bool begins_folded(std::string_view value, std::string_view typed) noexcept { return ascii::begins_with(value, typed); }

}  // namespace

matcher::matcher(std::string_view typed, reach ends)
    : typed_(typed), ends_(ends), has_slash_(typed.find('/') != std::string_view::npos) {
  split(typed, wanted_);
  for (auto& one : wanted_) one = lower(one);
}

void matcher::split(std::string_view text, std::vector<letter>& into) {
  into.clear();
  for (std::size_t at = 0; at < text.size();) {
    const auto size = size_at(text, at);
    // Pack the bytes of a code point into one number. Codes below 0x80 are ASCII; a stray byte never equals a sequence.
    letter one = static_cast<unsigned char>(text[at]);
    for (std::size_t i = 1; i < size; ++i) one = one << 8 | static_cast<unsigned char>(text[at + i]);
    into.push_back(one);
    at += size;
  }
}

/// A fast necessary condition: the typed bytes occur in `value` in order.
bool matcher::may_fit(std::string_view value) const noexcept {
  std::size_t next = 0;
  for (const char c : value) {
    if (lower(c) == lower(typed_[next]) && ++next == typed_.size()) return true;
  }
  return false;
}

void matcher::mark_words() {
  begins_word_.assign(letters_.size(), 0);
  auto before = sort::separator;
  for (std::size_t i = 0; i < letters_.size(); ++i) {
    const auto now = sort_of(letters_[i]);
    const bool is_hump = before == sort::upper && now == sort::upper && i + 1 < letters_.size() &&
                         sort_of(letters_[i + 1]) == sort::lower;  // the S of HTTPServer
    const bool goes_on = now == before || (before == sort::upper && now == sort::lower);
    begins_word_[i] = now == sort::separator || !goes_on || is_hump ? 1 : 0;
    before = now;
  }
}

std::optional<std::uint32_t> matcher::pieces(std::size_t begin, std::size_t last) {
  row_.assign(letters_.size(), no_way);
  next_row_.assign(letters_.size(), no_way);
  for (auto i = begin; i < letters_.size(); ++i) {
    if (begins_word_[i] != 0 && lower(letters_[i]) == wanted_[0]) row_[i] = 1;
  }
  for (std::size_t typed = 1; typed < wanted_.size(); ++typed) {
    auto best = no_way;  // lowest cost of the previous letter at any earlier position
    for (auto i = begin; i < letters_.size(); ++i) {
      next_row_[i] = no_way;
      if (lower(letters_[i]) == wanted_[typed]) {
        if (i > begin) next_row_[i] = row_[i - 1];
        if (begins_word_[i] != 0 && best != no_way) {
          next_row_[i] = std::min(next_row_[i], static_cast<std::uint16_t>(best + 1));
        }
      }
      best = std::min(best, row_[i]);
    }
    row_.swap(next_row_);
  }
  const auto from = row_.begin() + static_cast<std::ptrdiff_t>(std::max(begin, last));
  const auto least = from == row_.end() ? no_way : *std::min_element(from, row_.end());
  return least == no_way ? std::nullopt : std::optional<std::uint32_t>(least);
}

std::optional<std::uint32_t> matcher::gaps(std::size_t begin, std::size_t last) const {
  auto at = begin;
  for (std::size_t typed = 0; typed < wanted_.size(); ++typed, ++at) {
    if (typed + 1 == wanted_.size()) at = std::max(at, last);
    while (at < letters_.size() && lower(letters_[at]) != wanted_[typed]) ++at;
    if (at >= letters_.size()) return std::nullopt;
  }
  // `at` is behind the earliest end. Search backwards from there for the start with the fewest skipped letters.
  const auto end = at;
  for (auto typed = wanted_.size(); typed-- > 0;) {
    do --at;
    while (lower(letters_[at]) != wanted_[typed]);
  }
  return static_cast<std::uint32_t>(end - at - wanted_.size());
}

std::optional<fit> matcher::operator()(std::string_view value) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(value.size(), UINT32_MAX));
  const auto slash = value.rfind('/');
  const bool has_segments = slash != std::string_view::npos && slash + 1 < value.size();
  const auto last_byte = has_segments ? slash + 1 : 0;
  const bool reaches = ends_ == reach::anywhere || typed_.size() > last_byte;
  if (typed_.empty()) return fit{};
  if (reaches && value.starts_with(typed_)) return fit{tier::beginning, 0, length};
  if (reaches && begins_folded(value, typed_)) return fit{tier::folded_beginning, 0, length};
  if (wanted_.size() > longest_scattered || value.size() > longest_searched || !may_fit(value)) return std::nullopt;

  split(value, letters_);
  mark_words();
  std::size_t last_letter = 0;
  if (has_segments) {
    const auto place = std::find(letters_.rbegin(), letters_.rend(), U'/');
    last_letter = static_cast<std::size_t>(letters_.rend() - place);
  }
  const auto last = ends_ == reach::anywhere ? 0 : last_letter;
  const bool is_name_first = last_letter > 0 && !has_slash_;
  if (is_name_first) {
    if (const auto found = pieces(last_letter, 0)) return fit{tier::word_starts, *found * 2, length};
  }
  if (const auto found = pieces(0, last)) return fit{tier::word_starts, *found * 2 + (is_name_first ? 1 : 0), length};
  if (is_name_first) {
    if (const auto found = gaps(last_letter, 0)) return fit{tier::letters, *found * 2, length};
  }
  if (const auto found = gaps(0, last)) return fit{tier::letters, *found * 2 + (is_name_first ? 1 : 0), length};
  return std::nullopt;
}

}  // namespace hondana::match

namespace hondana::inline v0 {
namespace {

constexpr std::size_t values_sent = 100;

struct numbered {
  match::fit how;
  const std::string* value;
  std::size_t place;

  bool operator<(const numbered& other) const noexcept {
    if (how != other.how) return how < other.how;
    return place < other.place;
  }
};

}  // namespace

complete_result complete_from(std::string_view typed, const std::vector<std::string>& values) {
  match::matcher fits(typed);
  match::best<numbered> found(values_sent);
  std::unordered_set<std::string_view> seen;
  for (std::size_t place = 0; place < values.size(); ++place) {
    const auto how = fits(values[place]);
    if (how && seen.insert(values[place]).second) found.add({*how, &values[place], place});
  }
  complete_result answer;
  answer.total = found.count();
  for (const auto& one : found.take()) answer.values.push_back(*one.value);
  answer.has_more = answer.values.size() < *answer.total;
  return answer;
}

}  // namespace hondana::inline v0
