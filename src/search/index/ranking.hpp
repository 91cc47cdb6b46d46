/// Ranks passages: fuses results by words and by meaning, and weights them by their documents.
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

/// Number of passages of each list that take part in fusion, after access checks.
inline constexpr std::size_t ranks_that_count = 200;
/// The same if there is only the list by words.
inline constexpr std::size_t most_by_words_alone = 4'000;
/// The constant of reciprocal rank fusion by Cormack, Clarke and Buettcher: rank r scores 1/(60+r).
inline constexpr double fusion_constant = 60;
/// Weight of the list by meaning; that of the list by words is 1.
inline constexpr double weight_of_meaning = 0.8;
/// A priority of 0 lowers the score by this share, and a priority of 1 raises it. A missing priority counts as 0.5.
inline constexpr double weight_of_priority = 0.15;
/// A resource that changed just now gains this share. The gain halves with every `half_life`.
inline constexpr double weight_of_recency = 0.05;
inline constexpr std::chrono::hours half_life{24 * 90};
/// Limit of passages of one resource in an answer.
inline constexpr std::size_t most_of_one_resource = 3;

/// A passage found by meaning.
struct near_passage {
  passage_id id{};
  double closeness = 0;  ///< Cosine.
};

/// A passage that may be shown, and the reasons.
struct candidate {
  passage_id id{};
  double score = 0;                 ///< 0 to 1, before the document's weight.
  std::size_t rank_by_words = 0;    ///< From 1; 0: it has none of the words, or is too far down.
  std::size_t rank_by_meaning = 0;  ///< From 1; 0: it is not among the nearest passages.
  double closeness = 0;
  std::uint64_t words = 0;  ///< As in `match`.
  std::uint64_t in_title = 0;
  std::uint64_t in_heading = 0;
};

/// Fuses both lists. `by_words`: in any order; `by_meaning`: nearest first. The result has the best first; among equals, the
/// lower number.
/// If `by_meaning` is empty, the score is that of the words relative to the best one; otherwise it is by rank in both lists.
[[nodiscard]] std::vector<candidate> fused(std::vector<match> by_words, std::span<const near_passage> by_meaning);

/// The factor for the document's priority and age.
[[nodiscard]] double worth_of(const document& what, std::chrono::system_clock::time_point now) noexcept;

/// Why a passage is among the results: `"backup" in the title, "restore" in the text; 1st by words, 4th by meaning (0.71);
/// priority 0.9`.
[[nodiscard]] std::string reason_for(const candidate& what, std::span<const wanted_word> words, const document& of);

}  // namespace hondana::search
