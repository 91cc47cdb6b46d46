/// Searches without an index: scans lists, and the contents of small texts within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/tools/search_engine.hpp"

namespace hondana::tools {

/// The words of a query, in lower case as `letters` has it, each once, at most sixteen.
[[nodiscard]] std::vector<std::string> words_of(std::string_view query);

/// How a text has a word.
enum class presence : std::uint8_t { absent, inside, at_word_start };
/// `text` and `word` are in lower case. A word begins where a letter or digit follows something else, or beyond ASCII.
[[nodiscard]] presence presence_of(std::string_view text, std::string_view word) noexcept;

/// The lines of a text that show most of the words.
struct passage {
  std::size_t first_line = 0;  ///< From 1; 0: no word is there.
  std::size_t last_line = 0;
  std::string text;             ///< At most 400 bytes, whole characters.
  std::vector<bool> in_text;    ///< By word: whether it is anywhere in the whole text;
  std::size_t in_one_line = 0;  ///< and how many of them the best line has.
};
/// Up to three lines: the one with the most words, the first of equals, and its neighbours.
[[nodiscard]] passage best_passage(std::string_view text, const std::vector<std::string>& words);

/// Each word of the query is looked for in names, titles, descriptions and URIs, and in the contents of texts of at most 256
/// KiB whose size their source tells; ASCII letters match in either case. What has more of the words, in a better place,
/// comes first; of equals what is more important.
///
/// A search looks at 50 000 entries or for 1 s, then reads the 5 000 most promising contents, 32 MiB of them, or for 1.5 s.
/// Contents are read as `resources/read` reads them, past the gate and through the caller's view.
class scanning_engine final : public search_engine {
 public:
  [[nodiscard]] result<search_answer> search(const call& by, const surroundings& in, const search_query& what) const override;
};

}  // namespace hondana::tools
