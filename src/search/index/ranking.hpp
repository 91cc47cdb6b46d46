/// Ranks passages: fuses results by words and by meaning, and weighs documents.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/index/store.hpp"

namespace hondana::search {

/// How far down each list counts, of what the caller may have.
inline constexpr std::size_t ranks_that_count = 200;
/// And where there is only the one by words.
inline constexpr std::size_t most_by_words_alone = 4'000;
/// Cormack, Clarke and Buettcher's reciprocal rank fusion: a place r gives 1/(60+r).
inline constexpr double fusion_constant = 60;
/// What the list by meaning counts, that by words being 1.
inline constexpr double weight_of_meaning = 0.8;
/// A priority of 0 takes and one of 1 gives this part; none is as 0.5.
inline constexpr double weight_of_priority = 0.15;
/// What changed just now gains this part, half of it after `half_life`, and so on.
inline constexpr double weight_of_recency = 0.05;
inline constexpr std::chrono::hours half_life{24 * 90};
/// Passages of one resource in an answer.
inline constexpr std::size_t most_of_one_resource = 3;

/// A passage by meaning.
struct near_passage {
  passage_id id{};
  double closeness = 0;  ///< Cosine.
};

/// A passage that may be shown, and why.
struct candidate {
  passage_id id{};
  double score = 0;                 ///< 0 to 1, before the document's worth.
  std::size_t rank_by_words = 0;    ///< From 1; 0: it has none of them, or is too far down.
  std::size_t rank_by_meaning = 0;  ///< The same.
  double closeness = 0;
  std::uint64_t words = 0;  ///< As of `match`.
  std::uint64_t in_title = 0;
  std::uint64_t in_heading = 0;
};

/// The best first; of equals the lower number. `by_words` in no order, `by_meaning` the nearest first. Where `by_meaning` is
/// empty the score is that of the words, as a part of the best; else by rank in both lists.
[[nodiscard]] std::vector<candidate> fused(std::vector<match> by_words, std::span<const near_passage> by_meaning);

/// What a score is multiplied by for the document's priority and age.
[[nodiscard]] double worth_of(const document& what, std::chrono::system_clock::time_point now) noexcept;

/// Why a passage is among the results: `"backup" in the title, "restore" in the text; 1st by words, 4th by meaning (0.71);
/// priority 0.9`.
[[nodiscard]] std::string reason_for(const candidate& what, std::span<const wanted_word> words, const document& of);

}  // namespace hondana::search
