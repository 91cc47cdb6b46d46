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
inline constexpr std::array<std::uint16_t, field_count + 1> field_begins{1, 1024, 2048, 4096, 16384};
/// PostgreSQL's limit of positions of one word in a passage. The first fields take precedence.
inline constexpr std::size_t max_positions = 255;
/// PostgreSQL's limit of bytes of a word.
inline constexpr std::size_t max_lexeme_bytes = 2046;
/// Limit in bytes of all words and positions of a passage, below PostgreSQL's limit of 1 MiB. Words beyond it are not found.
inline constexpr std::size_t max_vector_bytes = 900'000;

/// Returns a word in the form that PostgreSQL can store: NUL replaced by U+FFFF, and cut to the limit. Empty: the word is
/// malformed and never found.
[[nodiscard]] std::string lexeme_of(std::string_view word);

/// The words of one passage.
class word_vector {
 public:
  /// Adds all words of a field. Call once for each field, in the order of the fields.
  void add(document_field field, std::span<const tokenizer::token> words);
  /// Returns the `tsvector` in the binary protocol. Weights: A title, B heading, C name, D text.
  [[nodiscard]] std::string bytes() const;
  /// Calls `visit` once for every word, in sorted order.
  void for_each_word(const std::function<void(const std::string&)>& visit) const;

 private:
  std::map<std::string, std::vector<std::uint16_t>, std::less<>> words_;
  std::size_t size_ = 0;
};

/// One occurrence of a word.
struct occurrence {
  document_field field = document_field::text;
  std::uint32_t offset = 0;  ///< Position in the field, in words.
};
using occurrence_visitor = std::function<void(std::string_view word, std::span<const occurrence> occurrences)>;
/// Calls `visit` for each word of a `tsvector` in the binary protocol. Errors: source_unavailable if it is malformed.
[[nodiscard]] result<void> for_each_occurrence(std::string_view bytes, const occurrence_visitor& visit);

/// Returns the `tsquery` as text: `'word' | 'begin':*`. A passage must match one of the required words. Words are quoted, so
/// they may contain any character. `required`: for each word, from `select_required`.
[[nodiscard]] std::string make_tsquery(std::span<const query_word> words, const std::vector<bool>& required);

}  // namespace hondana::search
