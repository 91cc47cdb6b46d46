/// Vectors one behind the other, which are all looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/embeddings/best.hpp"
#include "search/embeddings/products.hpp"

namespace hondana::embeddings {

/// Threads: one at a time; several may read.
class rows {
 public:
  explicit rows(std::size_t dimension);

  void put(std::int64_t number, std::span<const float> what);
  /// False: there was none.
  bool remove(std::int64_t number);
  /// Null: there is none. Valid until a change.
  [[nodiscard]] const float* find(std::int64_t number) const;
  void offer_all(const float* to, best& into) const;
  [[nodiscard]] const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  static constexpr std::size_t in_a_block = 512;
  [[nodiscard]] float* at(std::size_t place) const noexcept {
    return blocks_[place / in_a_block].get() + place % in_a_block * dimension_;
  }

  std::size_t dimension_;
  product product_ = fastest_product();
  std::vector<std::unique_ptr<float[]>> blocks_;  // so that nothing is copied when they become more
  std::vector<std::int64_t> numbers_;             // by place
  std::unordered_map<std::int64_t, std::size_t> places_;
};

}  // namespace hondana::embeddings
