/// The nearest neighbours of a vector: exact for small sets, by hnswlib for large ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::embeddings {

/// A set of vectors of length 1, each with a unique number. In memory; rebuilt from the store at start. Threads: any; changes
/// wait for searches and for each other.
///
/// Search is exact up to `max_exact` vectors: one inner product for each. Beyond that, hnswlib searches a graph (M 16,
/// ef_construction 200, ef 128). Each `put` builds a part of the graph. Search stays exact until the graph is complete, which
/// takes about a quarter more vectors. It becomes exact again when fewer than half of `max_exact` remain.
class vector_index {
 public:
  struct index_options {
    std::size_t dimension = 0;            ///< Numbers in each vector.
    std::size_t max_exact = 20'000;       ///< Limit of vectors for exact search.
    std::size_t max_vectors = 2'000'000;  ///< Limit of vectors in the set.
  };
  /// Creates an empty set.
  [[nodiscard]] static std::shared_ptr<vector_index> make(index_options options);
  virtual ~vector_index() = default;

  /// Adds a vector, or replaces the one with the same number. Errors: invalid_argument for another dimension or numbers that
  /// are not finite; overloaded if the set is full or memory is exhausted.
  [[nodiscard]] virtual result<void> put(std::int64_t number, std::span<const float> values) = 0;
  /// Removes a vector; does nothing if there is none with this number.
  virtual void remove(std::int64_t number) = 0;
  struct neighbour {
    std::int64_t number = 0;
    float similarity = 0;  ///< Cosine, -1 to 1.
  };
  /// Returns the nearest vectors that `admits` accepts, at most `count`, nearest first; among equals, the lower number first.
  /// Empty if `query` has another dimension or numbers that are not finite. `admits`: empty accepts all. It is called while the
  /// set is locked, maybe more than once per vector, so it must not call this set.
  [[nodiscard]] virtual std::vector<neighbour> nearest(std::span<const float> query, std::size_t count,
                                                       const std::function<bool(std::int64_t)>& admits = {}) const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t dimension() const noexcept = 0;
  /// Whether searches are exact now.
  [[nodiscard]] virtual bool is_exact() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;  ///< Approximate memory use.
};

}  // namespace hondana::embeddings
