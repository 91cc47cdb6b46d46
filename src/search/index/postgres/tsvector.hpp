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

/// The first position of each field, and the end of the last field. PostgreSQL allows positions 1 to 16383. All words beyond
/// the end of a field share its last position, where each word counts once.
inline constexpr std::array<std::uint16_t, place_count + 1> begin_of_place{1, 1024, 2048, 4096, 16384};
/// PostgreSQL's limits: positions of one word in a passage (the first fields take precedence), and bytes of a word.
inline constexpr std::size_t most_positions = 255;
inline constexpr std::size_t longest_lexeme = 2046;
/// Limit in bytes of all words and positions of a passage, below PostgreSQL's limit of 1 MiB. Words beyond it are not found.
inline constexpr std::size_t most_of_a_vector = 900'000;

/// A word in the form that PostgreSQL can store: NUL replaced by U+FFFF, and cut to the limit. Empty: the word is malformed and
/// never found.
[[nodiscard]] std::string lexeme_of(std::string_view word);

/// The words of one passage.
class word_vector {
 public:
  /// Adds all words of a field. Call once for each field.
  void add(place where, std::span<const tokenizer::token> words);
  /// The `tsvector` in the binary protocol. Weights: A title, B heading, C name, D text.
  [[nodiscard]] std::string bytes() const;
  /// Calls `each` once for every word, in sorted order.
  void each_word(const std::function<void(const std::string&)>& each) const;

 private:
  std::map<std::string, std::vector<std::uint16_t>, std::less<>> words_;
  std::size_t size_ = 0;
};

/// One occurrence of a word.
struct standing {
  place where = place::text;
  std::uint32_t offset = 0;
};
using standing_hearer = std::function<void(std::string_view word, std::span<const standing> where)>;
/// Parses a `tsvector` of the binary protocol. Errors: source_unavailable if it is malformed.
[[nodiscard]] result<void> each_standing(std::string_view bytes, const standing_hearer& each);

/// The `tsquery` as text: `'word' | 'begin':*`. A passage must match one of the deciding words. Words are quoted, so they may
/// contain any character.
[[nodiscard]] std::string query_of(std::span<const wanted_word> words, const std::vector<bool>& decides);

}  // namespace hondana::search
