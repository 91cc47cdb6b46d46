/// BM25 scores of passages by their words, the same for all stores.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/index/store.hpp"

namespace hondana::search {

/// The field of a document that a word is in. `name`: see `name_and_path`.
enum class document_field : std::uint8_t { title, heading, name, text };
inline constexpr std::size_t field_count = 4;
/// How many occurrences in the text one occurrence in each field is worth.
inline constexpr std::array<double, field_count> field_weights{2.0, 2.5, 1.5, 1.0};

/// Parameters of Robertson and Zaragoza's BM25 with fields weighted before saturation (BM25F). The only length is that of the
/// text.
inline constexpr double saturation = 1.2;      ///< k1 of BM25.
inline constexpr double length_weight = 0.75;  ///< b of BM25.

/// Returns the inverse document frequency of a word, which is never negative. `total`: number of all passages;
/// `document_frequency`: number of passages with the word.
[[nodiscard]] inline double idf(std::uint64_t total, std::uint64_t document_frequency) noexcept {
  const auto n = static_cast<double>(document_frequency);
  return std::log(1 + (static_cast<double>(total) - std::fmin(n, static_cast<double>(total)) + 0.5) / (n + 0.5));
}

/// Returns the part of a passage's score for one word. `counts`: occurrences of the word in each field; `length`,
/// `mean_length`: words in the text of the passage, and of passages on average.
[[nodiscard]] inline double term_score(double term_idf, const std::array<std::uint32_t, field_count>& counts, double length,
                                       double mean_length) noexcept {
  double weighted = 0;
  for (std::size_t i = 0; i < field_count; ++i) weighted += field_weights[i] * counts[i];
  if (weighted == 0) return 0;
  const double norm = saturation * (1 - length_weight + length_weight * (mean_length > 0 ? length / mean_length : 1));
  return term_idf * weighted * (saturation + 1) / (weighted + norm);
}

/// Two words that are adjacent in the query and in the passage add this share of the mean of their idf values.
inline constexpr double adjacency_bonus = 0.5;

/// Limit of words in one search by a store.
inline constexpr std::size_t max_words = 64;
/// Limit of indexed words that are counted for one prefix.
inline constexpr std::int64_t max_prefix_words = 2'000;

/// Selects the words of which a passage must have at least one. These are the rarest ones, up to `max_passages` passages in
/// total, but at least one word. The other words only add to the score. `frequencies`: number of passages with each word. Words
/// without passages are never selected. Returns for each word whether it is selected.
[[nodiscard]] std::vector<bool> select_required(std::span<const std::uint64_t> frequencies, std::size_t max_passages);

/// Computes the scores of passages, one after the other. Threads: one.
class bm25_scorer {
 public:
  /// `idfs`: the result of `idf` for each word.
  bm25_scorer(std::span<const query_word> words, std::vector<double> idfs);

  /// Begins the next passage. It has no words yet.
  void begin();
  /// Adds an occurrence of a word of the query. `word`: its index. `offset`: its position in the field, in words.
  void add_occurrence(std::size_t word, document_field field, std::uint32_t offset);
  /// Returns the match of the current passage, which is `id`. `length`: words in its text; `mean_length`: of passages on
  /// average.
  [[nodiscard]] match score(passage_id id, double length, double mean_length);

 private:
  /// Whether word `second` of the query directly follows the word before it in the passage.
  [[nodiscard]] bool are_adjacent(std::size_t second);

  std::vector<bool> follows_;
  std::vector<double> idfs_;
  // Of the current passage: for each word, its positions (field and offset in one number), and its occurrences by field.
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::array<std::uint32_t, field_count>> counts_;
};

}  // namespace hondana::search
