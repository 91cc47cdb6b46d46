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

/// The field of a document that a word is in. The weight says how many occurrences in the text one occurrence there is worth.
enum class document_field : std::uint8_t { title, heading, name, text };
inline constexpr std::size_t field_count = 4;
inline constexpr std::array<double, field_count> field_weights{2.0, 2.5, 1.5, 1.0};

/// Robertson and Zaragoza's BM25 with fields weighted before saturation (BM25F with a single length, that of the text).
inline constexpr double saturation = 1.2;      ///< k1 of BM25.
inline constexpr double length_weight = 0.75;  ///< b of BM25.

/// Inverse document frequency of a word. `total`: number of passages; `document_frequency`: passages with the word. Never
/// negative.
[[nodiscard]] inline double idf(std::uint64_t total, std::uint64_t document_frequency) noexcept {
  const auto n = static_cast<double>(document_frequency);
  return std::log(1 + (static_cast<double>(total) - std::fmin(n, static_cast<double>(total)) + 0.5) / (n + 0.5));
}

/// The contribution of one word to the score. `counts`: its occurrences in each field.
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

/// Limit of words in a query.
inline constexpr std::size_t max_words = 64;
/// Limit of words that are counted for one prefix.
inline constexpr std::int64_t max_prefix_words = 2'000;

/// Selects the words that a passage must have at least one of: the rarest ones, up to `max_passages` passages in total, but at
/// least one word. The other words only add to the score. `frequencies`: passages with each word. Words without passages are
/// never selected.
[[nodiscard]] std::vector<bool> select_required(std::span<const std::uint64_t> frequencies, std::size_t max_passages);

/// Computes the scores of passages, one after the other. Threads: one.
class bm25_scorer {
 public:
  /// `idfs`: by word.
  bm25_scorer(std::span<const query_word> words, std::vector<double> idfs);

  /// Begins the next passage, without any words.
  void begin();
  /// Adds an occurrence. `offset`: in words, from the beginning of the field.
  void add_occurrence(std::size_t word, document_field field, std::uint32_t offset);
  /// The score of the passage. `length`: of the text, in words.
  [[nodiscard]] match score(passage_id id, double length, double mean_length);

 private:
  [[nodiscard]] bool are_adjacent(std::size_t second);

  std::vector<bool> follows_;
  std::vector<double> idfs_;
  // Of the current passage: for each word, its positions (field and offset in one number), and its occurrences by field.
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::array<std::uint32_t, field_count>> counts_;
};

}  // namespace hondana::search
