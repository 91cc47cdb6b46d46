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

/// A set of vectors of length 1, each under a number of its own. Exact up to `exact_up_to` of them (one dot product each, with
/// AVX2 where there is one), beyond that by hnswlib (M 16, ef_construction 200, ef 128): the graph is made a little with each
/// `put`, and all are looked at until it has all, which is after a quarter more have come; and again once there are fewer than
/// half. In memory; rebuilt from the store at start. Threads: any; changes wait for searches and for each other.
class neighbours {
 public:
  struct options {
    std::size_t dimension = 0;
    std::size_t exact_up_to = 20'000;
    std::size_t most = 2'000'000;  ///< Beyond it `put` refuses.
  };
  [[nodiscard]] static std::shared_ptr<neighbours> make(options how);
  virtual ~neighbours() = default;

  /// Another one takes the place of what has that number. Errors: invalid_argument for another dimension, or numbers
  /// that are not finite; overloaded when full.
  [[nodiscard]] virtual result<void> put(std::int64_t number, std::span<const float> what) = 0;
  virtual void remove(std::int64_t number) = 0;
  struct near_one {
    std::int64_t number = 0;
    float closeness = 0;  ///< Cosine, -1 to 1.
  };
  /// The nearest first, at most `count`, among those that `admits` (empty: all; called while the set is locked, so it asks the
  /// set nothing, and maybe more than once). Of as near ones the lower number first. None for another dimension.
  [[nodiscard]] virtual std::vector<near_one> nearest(std::span<const float> to, std::size_t count,
                                                      const std::function<bool(std::int64_t)>& admits = {}) const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t dimension() const noexcept = 0;
  [[nodiscard]] virtual bool is_exact() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;  ///< Memory, about.
};

}  // namespace hondana::embeddings
