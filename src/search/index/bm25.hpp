/// BM25 scores of passages by the words in them, the same for all stores.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/index/store.hpp"

namespace hondana::search {

/// Where a word stands. A word of the title counts like this many in the text.
enum class place : std::uint8_t { title, heading, name, text };
inline constexpr std::size_t place_count = 4;
inline constexpr std::array<double, place_count> weight_of_place{2.0, 2.5, 1.5, 1.0};

/// Robertson and Zaragoza's BM25 with places weighted before saturation (BM25F with one length, that of the text).
inline constexpr double saturation = 1.2;         ///< Its k1.
inline constexpr double weight_of_length = 0.75;  ///< Its b.

/// Of a word that `documents` of `all` passages have. Never negative.
[[nodiscard]] inline double idf(std::uint64_t all, std::uint64_t having) noexcept {
  const auto n = static_cast<double>(having);
  return std::log(1 + (static_cast<double>(all) - std::fmin(n, static_cast<double>(all)) + 0.5) / (n + 0.5));
}

/// `times`: how often the word stands in each place.
[[nodiscard]] inline double share_of(double idf_of_word, const std::array<std::uint32_t, place_count>& times, double length,
                                     double mean_length) noexcept {
  double weighted = 0;
  for (std::size_t i = 0; i < place_count; ++i) weighted += weight_of_place[i] * times[i];
  if (weighted == 0) return 0;
  const double norm = saturation * (1 - weight_of_length + weight_of_length * (mean_length > 0 ? length / mean_length : 1));
  return idf_of_word * weighted * (saturation + 1) / (weighted + norm);
}

/// Two words that stand directly behind each other, in the query and in the passage, count so much of the mean of both again.
inline constexpr double share_of_neighbours = 0.5;

/// A query has no more words,
inline constexpr std::size_t most_words = 64;
/// and of those that begin with one of them no more are counted.
inline constexpr std::int64_t most_beginning_so = 2'000;

/// Which words decide what is looked at: the rarest, as long as they together have no more than `most` passages, and at least
/// one; the others only count where they stand too. `having`: passages with each word. Words that nothing has decide nothing.
[[nodiscard]] std::vector<bool> deciding(std::span<const std::uint64_t> having, std::size_t most);

/// One passage after the other. Threads: one.
class weigher {
 public:
  /// `idfs`: by word.
  weigher(std::span<const wanted_word> words, std::vector<double> idfs);

  /// The next passage: nothing stands in it yet.
  void begin();
  /// Offsets count the words of a place.
  void stands(std::size_t word, place where, std::uint32_t offset);
  /// `length`: of the text, in words.
  [[nodiscard]] match weighed(passage_id id, double length, double mean_length);

 private:
  [[nodiscard]] bool are_neighbours(std::size_t second);

  std::vector<bool> follows_;
  std::vector<double> idfs_;
  // Of the passage: where each word stands, place and offset in one number, and how often by place.
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::array<std::uint32_t, place_count>> times_;
};

}  // namespace hondana::search
