/// PostgreSQL's tsvector and tsquery in binary and text form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/index/bm25.hpp"
#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

/// Where the positions of each place begin, and where the last ones end: PostgreSQL knows 1 to 16383. What stands further back
/// in its place counts once, at its last position.
inline constexpr std::array<std::uint16_t, place_count + 1> begin_of_place{1, 1024, 2048, 4096, 16384};
/// How often a word counts in one passage at most, the earliest places first, and how long it may be, in bytes: PostgreSQL's
/// own limits.
inline constexpr std::size_t most_positions = 255;
inline constexpr std::size_t longest_lexeme = 2046;
/// Of all words and positions of a passage: below PostgreSQL's 1 MiB. Words beyond are not found.
inline constexpr std::size_t most_of_a_vector = 900'000;

/// A word as PostgreSQL can keep it: without NUL (U+FFFF stands for it), and not too long. Empty: it is malformed, and never
/// found.
[[nodiscard]] std::string lexeme_of(std::string_view word);

/// The words of one passage.
class word_vector {
 public:
  /// The words of a place, once for each.
  void add(place where, std::span<const tokenizer::token> words);
  /// As `tsvector` in the binary protocol; weights A for the title, B heading, C name, D text.
  [[nodiscard]] std::string bytes() const;
  /// Every word once, in order.
  void each_word(const std::function<void(const std::string&)>& each) const;

 private:
  std::map<std::string, std::vector<std::uint16_t>, std::less<>> words_;
  std::size_t size_ = 0;
};

/// Where a word stands.
struct standing {
  place where = place::text;
  std::uint32_t offset = 0;
};
using standing_hearer = std::function<void(std::string_view word, std::span<const standing> where)>;
/// Reads a `tsvector` of the binary protocol. Errors: source_unavailable: it is none.
[[nodiscard]] result<void> each_standing(std::string_view bytes, const standing_hearer& each);

/// What a passage must have one of: `'word' | 'begin':*`, as the text of a `tsquery`. Words are quoted, whatever is in them.
[[nodiscard]] std::string query_of(std::span<const wanted_word> words, const std::vector<bool>& decides);

}  // namespace hondana::search
