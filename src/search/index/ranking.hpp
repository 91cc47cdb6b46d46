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

/// Limit of passages of each list (by words, by meaning) that are fused, after access checks.
inline constexpr std::size_t max_fused_ranks = 200;
/// Limit of passages by words if there are none by meaning.
inline constexpr std::size_t max_lexical_matches = 4'000;
/// The constant of reciprocal rank fusion by Cormack, Clarke and Buettcher: rank r scores 1/(60+r).
inline constexpr double fusion_constant = 60;
/// Weight of the list by meaning; that of the list by words is 1.
inline constexpr double semantic_weight = 0.8;
/// A priority of 0 lowers the score by this share, and a priority of 1 raises it. A missing priority counts as 0.5.
inline constexpr double priority_weight = 0.15;
/// A resource that changed just now gains this share. The gain halves with every `half_life`.
inline constexpr double recency_weight = 0.05;
inline constexpr std::chrono::hours half_life{24 * 90};
/// Limit of passages of one resource in an answer.
inline constexpr std::size_t max_per_resource = 3;

/// A passage found by meaning.
struct near_passage {
  passage_id id{};
  double similarity = 0;  ///< Cosine.
};

/// A passage that was found by words, by meaning or both.
struct candidate {
  passage_id id{};
  double score = 0;               ///< 0 to 1, before `document_weight`.
  std::size_t lexical_rank = 0;   ///< From 1; 0: it has none of the words, or is too far down.
  std::size_t semantic_rank = 0;  ///< From 1; 0: it is not among the nearest passages.
  double similarity = 0;          ///< Cosine; only for passages found by meaning.
  std::uint64_t words = 0;        ///< As in `match`, like the next two.
  std::uint64_t in_title = 0;
  std::uint64_t in_heading = 0;
};

/// Fuses the passages found by words, in any order, and by meaning, nearest first. Returns the best first; among equals, the
/// lower number first. If `semantic` is empty, a score is relative to the best score by words. Otherwise it depends only on the
/// ranks in both lists.
[[nodiscard]] std::vector<candidate> fuse(std::vector<match> lexical, std::span<const near_passage> semantic);

/// Returns the factor for the document's priority and age, by which its scores are multiplied.
[[nodiscard]] double document_weight(const document& document, std::chrono::system_clock::time_point now) noexcept;

/// Explains why a passage is among the results: `"backup" in the title, "restore" in the text; 1st by words, 4th by meaning
/// (0.71); priority 0.9`. `words`: those of the query.
[[nodiscard]] std::string explain_rank(const candidate& ranked, std::span<const query_word> words, const document& document);

}  // namespace hondana::search
