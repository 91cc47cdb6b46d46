/// Words in SQLite's FTS5 table: writing, matching and scoring them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/sqlite/sqlite.hpp"
#include "search/index/bm25.hpp"
#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

/// Of the passages asked for last, as many as fit into 4 MiB. Threads: any; nobody waits. A passage's text is never another one
/// under the same number but for what is rewritten, after which who searches next forgets them all.
class text_lengths {
 public:
  [[nodiscard]] std::optional<std::uint32_t> of(passage_id which) const noexcept {
    const auto there = places_[place_of(which)].load(std::memory_order_relaxed);
    if (there >> bits_of_length != static_cast<std::uint64_t>(which.number)) return std::nullopt;
    return static_cast<std::uint32_t>(there & longest);
  }
  /// Lengths that do not fit are not remembered.
  void remember(passage_id which, std::uint32_t length) noexcept {
    const auto number = static_cast<std::uint64_t>(which.number);
    if (length > longest || number >> (64 - bits_of_length) != 0) return;
    places_[place_of(which)].store(number << bits_of_length | length, std::memory_order_relaxed);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i < count; ++i) places_[i].store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned bits_of_length = 16;
  static constexpr std::uint64_t longest = (1u << bits_of_length) - 1;
  static constexpr std::size_t count = std::size_t{1} << 19;

  /// The first passages of documents that follow each other lie side by side, the others anywhere.
  static std::size_t place_of(passage_id which) noexcept {
    const auto number = static_cast<std::uint64_t>(which.number);
    const auto order = number & 0xFFFF;
    return ((number >> 16) * 8 + (order & 7) + (order >> 3) * 0x9E3779B1u) & (count - 1);
  }

  // Number and length of a passage in one; a number of 0 is none's.
  std::unique_ptr<std::atomic<std::uint64_t>[]> places_ = std::make_unique<std::atomic<std::uint64_t>[]>(count);
};

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
