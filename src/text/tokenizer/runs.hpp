/// A text cut into runs of one way of writing, each given to who can cut it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/tokenizer/found.hpp"
#include "text/tokenizer/stemmer.hpp"

namespace hondana::tokenizer {

/// How many characters without a space are cut as one: what comes after is cut for itself, so that time stays linear.
inline constexpr std::size_t longest_run = 2048;

/// Cuts Japanese runs.
class japanese_cutter {
 public:
  japanese_cutter() = default;
  japanese_cutter(const japanese_cutter&) = delete;
  japanese_cutter& operator=(const japanese_cutter&) = delete;
  virtual ~japanese_cutter() = default;

  /// Bytes [begin, end) of the folded part: Han and kana alone.
  virtual void cut(found& into, std::size_t begin, std::size_t end) = 0;
};

/// Folds a text part by part and cuts it. Hangul words become pairs of characters, Thai and its like triples; Latin, Greek,
/// Cyrillic and all others that have spaces are words.
[[nodiscard]] std::vector<token> cut_text(std::string_view text, purpose what_for, japanese_cutter& japanese, stemmer& latin);

}  // namespace hondana::tokenizer
