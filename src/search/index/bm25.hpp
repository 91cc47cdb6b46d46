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
enum class place : std::uint8_t { title, heading, name, text };
inline constexpr std::size_t place_count = 4;
inline constexpr std::array<double, place_count> weight_of_place{2.0, 2.5, 1.5, 1.0};

/// Robertson and Zaragoza's BM25 with fields weighted before saturation (BM25F with a single length, that of the text).
inline constexpr double saturation = 1.2;         ///< k1 of BM25.
inline constexpr double weight_of_length = 0.75;  ///< b of BM25.

/// Inverse document frequency of a word. `all`: number of passages; `having`: passages with the word. Never negative.
[[nodiscard]] inline double idf(std::uint64_t all, std::uint64_t having) noexcept {
  const auto n = static_cast<double>(having);
  return std::log(1 + (static_cast<double>(all) - std::fmin(n, static_cast<double>(all)) + 0.5) / (n + 0.5));
}

/// The contribution of one word to the score. `times`: its occurrences in each field.
[[nodiscard]] inline double share_of(double idf_of_word, const std::array<std::uint32_t, place_count>& times, double length,
                                     double mean_length) noexcept {
  double weighted = 0;
  for (std::size_t i = 0; i < place_count; ++i) weighted += weight_of_place[i] * times[i];
  if (weighted == 0) return 0;
  const double norm = saturation * (1 - weight_of_length + weight_of_length * (mean_length > 0 ? length / mean_length : 1));
  return idf_of_word * weighted * (saturation + 1) / (weighted + norm);
}

/// Two words that are adjacent in the query and in the passage add this share of the mean of their idf values.
inline constexpr double share_of_neighbours = 0.5;

/// Limit of words in a query.
inline constexpr std::size_t most_words = 64;
/// Limit of words that are counted for one prefix.
inline constexpr std::int64_t most_beginning_so = 2'000;

/// Selects the words that a passage must have at least one of: the rarest ones, up to `most` passages in total, but at least
/// one word. The other words only add to the score. `having`: passages with each word. Words without passages are never
/// selected.
[[nodiscard]] std::vector<bool> deciding(std::span<const std::uint64_t> having, std::size_t most);

/// Computes the scores of passages, one after the other. Threads: one.
class weigher {
 public:
  /// `idfs`: by word.
  weigher(std::span<const wanted_word> words, std::vector<double> idfs);

  /// Begins the next passage, without any words.
  void begin();
  /// Adds an occurrence. `offset`: in words, from the beginning of the field.
  void stands(std::size_t word, place where, std::uint32_t offset);
  /// The score of the passage. `length`: of the text, in words.
  [[nodiscard]] match weighed(passage_id id, double length, double mean_length);

 private:
  [[nodiscard]] bool are_neighbours(std::size_t second);

  std::vector<bool> follows_;
  std::vector<double> idfs_;
  // Of the current passage: for each word, its positions (field and offset in one number), and its occurrences by field.
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::array<std::uint32_t, place_count>> times_;
};

}  // namespace hondana::search
