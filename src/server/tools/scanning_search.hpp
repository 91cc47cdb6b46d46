/// Search without an index: scans lists, and the contents of small texts within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/tools/search_engine.hpp"

namespace hondana::tools {

/// The words of a query, separated by white space, with ASCII letters in lower case. At most sixteen, without duplicates.
[[nodiscard]] std::vector<std::string> words_of(std::string_view query);

/// Where a text contains a word: nowhere, only inside words, or at the start of a word.
enum class presence : std::uint8_t { absent, inside, at_word_start };
/// Finds `word` (not empty) in `text`; both must be lower-case. A word starts where a letter or digit follows another
/// character. Words that begin with a non-ASCII character start anywhere.
[[nodiscard]] presence presence_of(std::string_view text, std::string_view word) noexcept;

/// The part of a text that best shows which words it contains.
struct passage {
  std::size_t first_line = 0;     ///< From 1. 0: the text contains none of the words.
  std::size_t last_line = 0;      ///< Included.
  std::string text;               ///< At most 400 bytes, whole characters.
  std::vector<bool> has_word;     ///< For each word: whether the whole text contains it.
  std::size_t words_in_line = 0;  ///< The largest number of different words in one line.
};
/// Returns the first of the lines with the most different words, and the lines before and after it. If these exceed 400 bytes,
/// returns only that line, shortened if necessary. `words` must be lower-case.
[[nodiscard]] passage best_passage(std::string_view text, const std::vector<std::string>& words);

/// Searches each word in names, titles, descriptions and URIs, and in the contents of texts of at most 256 KiB with a known
/// size. Ignores ASCII case. Results with more words, in more important places, come first; among equal ones, those with higher
/// priority.
///
/// A search examines up to 50 000 entries, for up to 1 s. It then reads the contents of the 5 000 best candidates, up to 32
/// MiB, for up to 1.5 s. Contents are read as by `resources/read`: checked by the gate and the caller's access filter. Entries
/// that the caller may only list can be found, but not by their contents.
class scanning_engine final : public search_engine {
 public:
  [[nodiscard]] result<search_answer> search(const request_context& context, const tool_services& services,
                                             const search_query& query) const override;
};

}  // namespace hondana::tools
