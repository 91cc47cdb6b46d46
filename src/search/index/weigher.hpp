/// Weighs passages by where the words of a query stand in them: the same for all stores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/index/bm25.hpp"
#include "search/index/store.hpp"

namespace hondana::search {

/// One passage after the other. Threads: one.
class weigher {
 public:
  /// `idfs`: by word.
  weigher(std::span<const wanted_word> words, std::vector<double> idfs);

  /// The next passage: nothing stands in it yet.
  void begin();
  /// Offsets count the words of a place.
  void stands(std::size_t word, place where, std::uint32_t offset);
  /// `length`: of the text, in words.
  [[nodiscard]] match weighed(passage_id id, double length, double mean_length);

 private:
  [[nodiscard]] bool are_neighbours(std::size_t second);

  std::vector<bool> follows_;
  std::vector<double> idfs_;
  // Of the passage: where each word stands, place and offset in one number, and how often by place.
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::array<std::uint32_t, place_count>> times_;
};

}  // namespace hondana::search
