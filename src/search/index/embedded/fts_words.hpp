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

/// A lock-free cache of passage lengths, 4 MiB. Threads: any. The text of a passage number changes only when it is rewritten;
/// the next search then clears the cache.
class text_lengths {
 public:
  [[nodiscard]] std::optional<std::uint32_t> of(passage_id which) const noexcept {
    const auto there = places_[place_of(which)].load(std::memory_order_relaxed);
    if (there >> bits_of_length != static_cast<std::uint64_t>(which.number)) return std::nullopt;
    return static_cast<std::uint32_t>(there & longest);
  }
  /// Ignores lengths that do not fit into an element.
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

  /// The first eight passages of consecutive documents are close together; the others are scattered.
  static std::size_t place_of(passage_id which) noexcept {
    const auto number = static_cast<std::uint64_t>(which.number);
    const auto order = number & 0xFFFF;
    return ((number >> 16) * 8 + (order & 7) + (order >> 3) * 0x9E3779B1u) & (count - 1);
  }

  // Number and length of a passage in one integer; number 0 marks a free element.
  std::unique_ptr<std::atomic<std::uint64_t>[]> places_ = std::make_unique<std::atomic<std::uint64_t>[]>(count);
};

/// Encodes a word so that the table's own tokenizer, which splits at ASCII characters other than letters and digits, keeps it
/// whole.
[[nodiscard]] std::string as_indexed(std::string_view word);
/// All encoded words of a text, separated by spaces.
[[nodiscard]] std::string indexed_words(const tokenizer::tokenizer& by, std::string_view text);

/// The FTS5 query for some words. A passage must have one of the words that decide; the other words only add to its score.
[[nodiscard]] std::string expression_of(std::span<const wanted_word> words, const std::vector<bool>& decides);

/// Scores the rows of one query, and must outlive it. Bound as an argument of the SQL function `weigh`.
class weighing {
 public:
  static constexpr const char* type_name = "hondana-weighing";

  /// `words` and `decides` as for `expression_of`. `idfs`: by word. `known` must outlive this object.
  weighing(std::span<const wanted_word> words, const std::vector<bool>& decides, std::vector<double> idfs, text_lengths& known);

  /// The match of the last scored row.
  [[nodiscard]] const match& last() const noexcept { return last_; }

  /// Registers `weigh(words, ?)`, which scores the row and returns the score. Errors: source_unavailable.
  [[nodiscard]] static result<void> install(sqlite::connection& on);

 private:
  friend struct weigh_function;

  std::vector<std::size_t> word_of_phrase_;  // by phrase of the query; a repeated phrase has none: `npos`
  weigher weigher_;
  text_lengths* known_;
  double mean_length_ = -1;  // negative: not known yet
  match last_{};
};

}  // namespace hondana::search
