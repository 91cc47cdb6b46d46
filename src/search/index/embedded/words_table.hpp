/// Words in SQLite's full-text table: how they are written there, and how passages are weighed by them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/sqlite/sqlite.hpp"
#include "search/index/bm25.hpp"
#include "search/index/embedded/text_lengths.hpp"
#include "search/index/store.hpp"
#include "search/index/weigher.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::search {

/// A word as the table's own cutting, at whatever is ASCII and neither letter nor digit, leaves it whole.
[[nodiscard]] std::string as_indexed(std::string_view word);
/// All words of a text, with a space between.
[[nodiscard]] std::string indexed_words(const tokenizer::tokenizer& by, std::string_view text);

/// What is asked of the table for some words: those that decide, of which a passage must have one, and those that only count.
[[nodiscard]] std::string expression_of(std::span<const wanted_word> words, const std::vector<bool>& decides);

/// Weighs the rows of one query; lives as long as the query runs. Bound as an argument of the function `weigh`.
class weighing {
 public:
  static constexpr const char* type_name = "hondana-weighing";

  /// `idfs`: by word. The words as for `expression_of`. `known`: outlives it.
  weighing(std::span<const wanted_word> words, const std::vector<bool>& decides, std::vector<double> idfs, text_lengths& known);

  /// Of the row that was weighed last.
  [[nodiscard]] const match& last() const noexcept { return last_; }

  /// Makes `weigh(words, ?)` known, which weighs the row and returns its score. Errors: source_unavailable.
  [[nodiscard]] static result<void> install(sqlite::connection& on);

 private:
  friend struct weigh_function;

  std::vector<std::size_t> word_of_phrase_;  // a phrase that is there a second time has none: `npos`
  weigher weigher_;
  text_lengths* known_;
  double mean_length_ = -1;  // not asked yet
  match last_{};
};

}  // namespace hondana::search
