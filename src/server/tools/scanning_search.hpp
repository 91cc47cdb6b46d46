/// Search without an index: scans lists, and the contents of small texts within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/tools/search_engine.hpp"

namespace hondana::tools {

/// The words of a query, with ASCII letters in lower case, without duplicates, at most sixteen.
[[nodiscard]] std::vector<std::string> words_of(std::string_view query);

/// Whether a text contains a word.
enum class presence : std::uint8_t { absent, inside, at_word_start };
/// `text` and `word` must be lower-case. A word starts where a letter or digit follows another character. Words that begin with
/// a non-ASCII character start anywhere.
[[nodiscard]] presence presence_of(std::string_view text, std::string_view word) noexcept;

/// The lines of a text that contain most of the words.
struct passage {
  std::size_t first_line = 0;  ///< From 1. 0: the text contains none of the words.
  std::size_t last_line = 0;
  std::string text;               ///< At most 400 bytes, whole characters.
  std::vector<bool> has_word;     ///< For each word: whether the whole text contains it.
  std::size_t words_in_line = 0;  ///< How many words the best line contains.
};
/// Returns up to three lines: the first of those with the most words, and its neighbours.
[[nodiscard]] passage best_passage(std::string_view text, const std::vector<std::string>& words);

/// Searches each word in names, titles, descriptions and URIs, and in the contents of texts of at most 256 KiB with a known
/// size. ASCII case is ignored. Results with more words, in more important places, come first; among equal ones, those with
/// higher priority.
///
/// A search examines up to 50 000 entries, for up to 1 s. It then reads the contents of the 5 000 best candidates, up to 32
/// MiB, for up to 1.5 s. Contents are read as by `resources/read`: checked by the gate and the caller's access filter.
class scanning_engine final : public search_engine {
 public:
  [[nodiscard]] result<search_answer> search(const request_context& context, const tool_services& services,
                                             const search_query& query) const override;
};

}  // namespace hondana::tools
