/// Vectors in a graph of neighbours (hnswlib), which finds most of the nearest without looking at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "search/embeddings/best.hpp"

namespace hondana::embeddings {

/// What is removed stays in the graph, marked, until another takes its place. Threads: one at a time; several may search.
class graph {
 public:
  /// Throws std::exception where there is no memory, as all that is not noexcept here. After a throw of `put` or `remove` it is
  /// to be searched no more.
  explicit graph(std::size_t dimension);
  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  void put(std::int64_t number, std::span<const float> what);
  bool remove(std::int64_t number);
  [[nodiscard]] bool has(std::int64_t number) const;
  /// Offers about `count` of the nearest.
  void offer_nearest(const float* to, std::size_t count, best& into) const;
  /// Offers every one.
  void offer_all(const float* to, best& into) const;
  /// Gives every one to `take(number, vector)`, in no order.
  void each(const std::function<void(std::int64_t, std::span<const float>)>& take) const;
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::embeddings
