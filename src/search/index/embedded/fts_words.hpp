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

/// A lock-free cache of the lengths of passages in words, 4 MiB. Threads: any. When a passage is rewritten under its number,
/// the next search clears the cache.
class text_lengths {
 public:
  /// No value: the length is not cached.
  [[nodiscard]] std::optional<std::uint32_t> find(passage_id id) const noexcept {
    const auto entry = entries_[slot_of(id)].load(std::memory_order_relaxed);
    if (entry >> length_bits != static_cast<std::uint64_t>(id.number)) return std::nullopt;
    return static_cast<std::uint32_t>(entry & max_length);
  }
  /// Caches a length. Ignores lengths and numbers that are too large for an element.
  void put(passage_id id, std::uint32_t length) noexcept {
    const auto number = static_cast<std::uint64_t>(id.number);
    if (length > max_length || number >> (64 - length_bits) != 0) return;
    entries_[slot_of(id)].store(number << length_bits | length, std::memory_order_relaxed);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i < capacity; ++i) entries_[i].store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned length_bits = 16;
  static constexpr std::uint64_t max_length = (1u << length_bits) - 1;
  static constexpr std::size_t capacity = std::size_t{1} << 19;

  /// The first eight passages of consecutive documents are close together; the others are scattered.
  static std::size_t slot_of(passage_id id) noexcept {
    const auto number = static_cast<std::uint64_t>(id.number);
    const auto order = number & 0xFFFF;
    return ((number >> 16) * 8 + (order & 7) + (order >> 3) * 0x9E3779B1u) & (capacity - 1);
  }

  // Number and length of a passage in one integer; number 0 marks a free element.
  std::unique_ptr<std::atomic<std::uint64_t>[]> entries_ = std::make_unique<std::atomic<std::uint64_t>[]>(capacity);
};

/// Encodes a word so that the table's own tokenizer keeps it whole. This tokenizer splits at ASCII characters other than
/// letters and digits.
[[nodiscard]] std::string encode_word(std::string_view word);
/// Returns all encoded words of a text, separated by spaces.
[[nodiscard]] std::string encode_words(const tokenizer::tokenizer& tokenizer, std::string_view text);

/// Returns the FTS5 query for some words. A passage must have one of the required words, of which there must be at least one.
/// The other words only add to its score. `required`: for each word, from `select_required`.
[[nodiscard]] std::string match_expression(std::span<const query_word> words, const std::vector<bool>& required);

/// Scores the rows of one query, which must end before this object. Bound as an argument of the SQL function `weigh`.
class row_scorer {
 public:
  /// The type of the bound pointer.
  static constexpr const char* type_name = "hondana-weighing";

  /// `words` and `required` as for `match_expression`. `idfs`: for each word. `lengths` must outlive this object.
  row_scorer(std::span<const query_word> words, const std::vector<bool>& required, std::vector<double> idfs,
             text_lengths& lengths);

  /// The match of the last scored row.
  [[nodiscard]] const match& last() const noexcept { return last_; }

  /// Registers the SQL function `weigh(words, ?)`, which scores a row of the table `words` and returns the score. Errors:
  /// source_unavailable.
  [[nodiscard]] static result<void> register_function(sqlite::connection& connection);

 private:
  friend struct weigh_function;

  std::vector<std::size_t> word_of_phrase_;  // by phrase of the query; a repeated phrase has none: -1
  bm25_scorer scorer_;
  text_lengths* lengths_;
  double mean_length_ = -1;  // of texts, in words; negative: not known yet
  match last_{};
};

}  // namespace hondana::search
