/// The nearest neighbours of a vector: exact for small sets, by hnswlib for large ones.
#include "search/embeddings/vector_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// hnswlib selects its vectorized functions at compile time, and defines them with common names in the global namespace. This
// project selects its own at run time.
#define NO_MANUAL_VECTORIZATION
// For an empty list, hnswlib calls memcpy with a null pointer and size 0, which the sanitizer would report.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute"))), apply_to = function)
#endif
#include <hnswlib/hnswlib.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "search/embeddings/inner_product.hpp"

namespace hondana::embeddings {

/// Whether `a` is nearer; for equal closeness, whether it has the lower number.
[[nodiscard]] inline bool is_nearer(const vector_index::neighbour& a, const vector_index::neighbour& b) noexcept {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.number < b.number;
}

/// Keeps the `max_size` nearest elements. Threads: one at a time.
class top_k {
 public:
  top_k(std::size_t max_size, const std::function<bool(std::int64_t)>& admits) : max_size_(max_size), admits_(admits) {}

  /// Calls `admits` only for an element that is near enough. `candidate.similarity` must not be NaN.
  void offer(const vector_index::neighbour& candidate) {
    if (heap_.size() == max_size_ && (max_size_ == 0 || !is_nearer(candidate, heap_.front()))) return;
    if (admits_ && !admits_(candidate.number)) return;
    if (heap_.size() == max_size_) {
      std::pop_heap(heap_.begin(), heap_.end(), is_nearer);
      heap_.back() = candidate;
    } else {
      heap_.push_back(candidate);
    }
    std::push_heap(heap_.begin(), heap_.end(), is_nearer);
  }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// Returns the elements, nearest first.
  [[nodiscard]] std::vector<vector_index::neighbour> extract_sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), is_nearer);
    return std::move(heap_);
  }

 private:
  std::size_t max_size_;
  const std::function<bool(std::int64_t)>& admits_;
  std::vector<vector_index::neighbour> heap_;  // a heap, the farthest in front
};

/// Vectors in contiguous blocks, for exact search. Threads: one at a time; several may read.
class rows {
 public:
  explicit rows(std::size_t dimension);

  void put(std::int64_t number, std::span<const float> values);
  /// Returns false if there is no such vector.
  bool remove(std::int64_t number);
  /// Null if there is no such vector. Valid until the next change.
  [[nodiscard]] const float* find(std::int64_t number) const;
  void offer_all(const float* query, top_k& results) const;
  [[nodiscard]] const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  static constexpr std::size_t block_size = 512;
  [[nodiscard]] float* row(std::size_t position) const noexcept {
    return blocks_[position / block_size].get() + position % block_size * dimension_;
  }

  std::size_t dimension_;
  product product_ = fastest_product();
  std::vector<std::unique_ptr<float[]>> blocks_;  // blocks, so that growing copies nothing
  std::vector<std::int64_t> numbers_;             // by position
  std::unordered_map<std::int64_t, std::size_t> positions_;
};

rows::rows(std::size_t dimension) : dimension_(dimension) {}

void rows::put(std::int64_t number, std::span<const float> values) {
  const auto existing = positions_.find(number);
  std::size_t position = numbers_.size();
  if (existing != positions_.end()) {
    position = existing->second;
  } else {
    if (position == blocks_.size() * block_size)
      blocks_.push_back(std::make_unique_for_overwrite<float[]>(block_size * dimension_));
    numbers_.push_back(number);
    positions_.emplace(number, position);
  }
  std::copy(values.begin(), values.end(), row(position));
}

bool rows::remove(std::int64_t number) {
  const auto existing = positions_.find(number);
  if (existing == positions_.end()) return false;
  const auto position = existing->second;
  const auto last = numbers_.size() - 1;
  positions_.erase(existing);
  if (position != last) {
    std::copy_n(row(last), dimension_, row(position));
    numbers_[position] = numbers_[last];
    positions_[numbers_[position]] = position;
  }
  numbers_.pop_back();
  // Keep one spare block, so that repeated additions and removals at the boundary cost nothing.
  if (blocks_.size() * block_size >= numbers_.size() + 2 * block_size) blocks_.pop_back();
  return true;
}

const float* rows::find(std::int64_t number) const {
  const auto existing = positions_.find(number);
  return existing == positions_.end() ? nullptr : row(existing->second);
}

void rows::offer_all(const float* query, top_k& results) const {
  for (std::size_t position = 0; position < numbers_.size(); ++position)
    results.offer({numbers_[position], product_(query, row(position), dimension_)});
}

std::size_t rows::bytes() const noexcept {
  constexpr std::size_t overhead_bytes = 2 * sizeof(std::int64_t) + 40;  // numbers and positions
  return blocks_.size() * block_size * dimension_ * sizeof(float) + numbers_.size() * overhead_bytes;
}

/// An hnswlib graph, for approximate search. Removed elements stay in the graph, marked, until another element takes their
/// place. Threads: one at a time; several may search.
class graph {
 public:
  /// Functions that are not noexcept throw std::exception if memory is exhausted. After an exception in `put` or `remove`, do
  /// not search the graph any more.
  explicit graph(std::size_t dimension);
  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  void put(std::int64_t number, std::span<const float> values);
  bool remove(std::int64_t number);
  [[nodiscard]] bool contains(std::int64_t number) const;
  /// Offers approximately `count` of the nearest elements.
  void offer_nearest(const float* query, std::size_t count, top_k& results) const;
  /// Offers every element.
  void offer_all(const float* query, top_k& results) const;
  /// Calls `visit(number, vector)` for every element, in no particular order.
  void for_each(const std::function<void(std::int64_t, std::span<const float>)>& visit) const;
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::embeddings

namespace hondana::embeddings {
namespace {

constexpr std::size_t links = 16;
constexpr std::size_t ef_construction = 200;
constexpr std::size_t ef_search = 128;
constexpr std::size_t initial_capacity = 1024;

/// The distance for hnswlib: one minus the inner product. The reported size is padded so that the data that hnswlib stores
/// after each vector is aligned.
class inner_product_space final : public hnswlib::SpaceInterface<float> {
 public:
  explicit inner_product_space(std::size_t dimension) : shape_{fastest_product(), dimension} {}
  std::size_t get_data_size() override { return floats() * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &shape_; }
  [[nodiscard]] std::size_t floats() const noexcept { return shape_.dimension | 1u; }

 private:
  struct shape {
    product multiply;
    std::size_t dimension;
  };
  static float distance(const void* a, const void* b, const void* context) {
    const auto& params = *static_cast<const shape*>(context);
    return 1 - params.multiply(static_cast<const float*>(a), static_cast<const float*>(b), params.dimension);
  }
  shape shape_;
};

}  // namespace

struct graph::state {
  using index = hnswlib::HierarchicalNSW<float>;
  std::size_t dimension;
  inner_product_space space;
  std::unique_ptr<index> hnsw;
  std::vector<std::int64_t> numbers{};  // by position
  std::vector<std::size_t> free{};      // positions of elements marked as deleted
  std::unordered_map<std::int64_t, std::size_t> positions{};
  std::vector<float> padded;
  bool is_resizing = false;

  explicit state(std::size_t length)
      : dimension(length),
        space(length),
        hnsw(std::make_unique<index>(&space, initial_capacity, links, ef_construction)),
        padded(space.floats()) {
    hnsw->setEf(ef_search);
  }
  ~state() {
    // If resizing threw an exception, the destructor of hnswlib would free memory twice. Leak it instead.
    if (is_resizing) static_cast<void>(hnsw.release());
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Labels equal hnswlib's internal ids, because both are assigned in the same order.
  [[nodiscard]] const float* row(std::size_t position) const {
    return reinterpret_cast<const float*>(hnsw->getDataByInternalId(static_cast<hnswlib::tableint>(position)));
  }
  void grow() {
    if (numbers.size() < hnsw->max_elements_) return;
    is_resizing = true;
    hnsw->resizeIndex(hnsw->max_elements_ * 3 / 2);
    is_resizing = false;
  }
  std::size_t allocate(std::int64_t number) {
    if (const auto existing = positions.find(number); existing != positions.end()) return existing->second;
    if (free.empty()) {
      grow();
      const auto position = numbers.size();
      numbers.push_back(number);
      positions.emplace(number, position);
      return position;
    }
    const auto position = free.back();
    free.pop_back();
    numbers[position] = number;
    positions.emplace(number, position);
    return position;
  }
};

graph::graph(std::size_t dimension) : state_(std::make_unique<state>(dimension)) {}
graph::~graph() = default;

void graph::put(std::int64_t number, std::span<const float> values) {
  auto& data = *state_;
  const auto position = data.allocate(number);
  std::copy(values.begin(), values.end(), data.padded.begin());
  try {
    data.hnsw->addPoint(data.padded.data(), position);
  } catch (...) {
    data.positions.erase(number);
    throw;
  }
}

bool graph::remove(std::int64_t number) {
  auto& data = *state_;
  const auto existing = data.positions.find(number);
  if (existing == data.positions.end()) return false;
  data.hnsw->markDelete(existing->second);
  data.free.push_back(existing->second);
  data.positions.erase(existing);
  return true;
}

bool graph::contains(std::int64_t number) const { return state_->positions.contains(number); }

void graph::offer_nearest(const float* query, std::size_t count, top_k& results) const {
  auto nearest = state_->hnsw->searchKnn(query, count);
  for (; !nearest.empty(); nearest.pop()) results.offer({state_->numbers[nearest.top().second], 1 - nearest.top().first});
}

void graph::offer_all(const float* query, top_k& results) const {
  const auto multiply = fastest_product();
  for (const auto& [number, position] : state_->positions)
    results.offer({number, multiply(query, state_->row(position), state_->dimension)});
}

void graph::for_each(const std::function<void(std::int64_t, std::span<const float>)>& visit) const {
  for (const auto& [number, position] : state_->positions) visit(number, {state_->row(position), state_->dimension});
}

std::size_t graph::size() const noexcept { return state_->positions.size(); }

std::size_t graph::bytes() const noexcept {
  const auto& data = *state_;
  // Per element: a lock, a level and a pointer. A fifteenth of the elements are on higher levels. `bytes_per_element`: numbers
  // and positions. Each search needs one mark per element.
  constexpr std::size_t overhead_bytes = sizeof(std::mutex) + sizeof(int) + sizeof(void*) + 2;
  constexpr std::size_t bytes_per_element = 120;
  return data.hnsw->max_elements_ * (data.hnsw->size_data_per_element_ + overhead_bytes) +
         data.numbers.size() * (bytes_per_element + data.hnsw->size_links_per_element_ / (links - 1)) +
         hnswlib::HierarchicalNSW<float>::max_update_element_locks * sizeof(std::mutex);
}

namespace {

/// Building a graph of twenty thousand vectors takes many seconds. To avoid blocking searches for that long, the rows stay in
/// use, and each `put` moves this many of them into the graph.
constexpr std::size_t moves_per_put = 4;
/// The number of nearest elements to try first, before a full scan, in case `admits` rejects most.
constexpr std::size_t first_candidates = 128;
constexpr std::size_t second_candidates = 1024;

bool is_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

class hybrid_index final : public vector_index {
 public:
  explicit hybrid_index(index_options options) : options_(options), rows_(options.dimension) {}

  result<void> put(std::int64_t number, std::span<const float> values) override {
    if (values.size() != options_.dimension || options_.dimension == 0)
      return fail(errc::invalid_argument, "a vector of " + std::to_string(values.size()) +
                                              " numbers cannot be added to vectors of " + std::to_string(options_.dimension) +
                                              "; vectors of different models are not comparable");
    if (!is_finite(values)) return fail(errc::invalid_argument, "a vector has numbers that are not finite");
    const auto lock = lock_exclusive();
    if (count() >= options_.max_vectors && !contains(number))
      return fail(errc::overloaded, "there are " + std::to_string(options_.max_vectors) + " vectors, which is the limit");
    try {
      put_locked(number, values);
    } catch (const std::exception& e) {
      drop_graph();
      return fail(errc::overloaded, "a vector could not be stored, probably for lack of memory", e.what());
    }
    return {};
  }

  void remove(std::int64_t number) override {
    const auto lock = lock_exclusive();
    if (!graph_) {
      rows_.remove(number);
      return;
    }
    if (is_growing_) rows_.remove(number);
    try {
      graph_->remove(number);
      if (count() < options_.max_exact / 2) revert_to_rows();
    } catch (const std::exception&) {
      drop_graph();
      rows_.remove(number);
    }
  }

  std::vector<neighbour> nearest(std::span<const float> query, std::size_t max_results,
                                 const std::function<bool(std::int64_t)>& admits) const override {
    if (query.size() != options_.dimension || max_results == 0 || !is_finite(query)) return {};
    const auto lock = lock_shared();
    max_results = std::min(max_results, count());
    if (graph_ && !is_growing_) {
      for (const auto candidates : {first_candidates, second_candidates}) {
        if (max_results > candidates / 2) continue;
        top_k results(max_results, admits);
        graph_->offer_nearest(query.data(), candidates, results);
        if (results.size() == max_results) return clamp_similarities(results.extract_sorted());
      }
    }
    top_k results(max_results, admits);
    if (graph_ && !is_growing_)
      graph_->offer_all(query.data(), results);
    else
      rows_.offer_all(query.data(), results);
    return clamp_similarities(results.extract_sorted());
  }

  std::size_t dimension() const noexcept override { return options_.dimension; }
  std::size_t size() const override {
    const auto lock = lock_shared();
    return count();
  }
  bool is_exact() const override {
    const auto lock = lock_shared();
    return !graph_ || is_growing_;
  }
  std::size_t bytes() const override {
    const auto lock = lock_shared();
    return rows_.bytes() + (graph_ ? graph_->bytes() : 0) + pending_.capacity() * sizeof(std::int64_t);
  }

 private:
  /// Locks for a change. A waiting change also blocks new searches; otherwise continuous searches could delay it forever.
  [[nodiscard]] std::unique_lock<std::shared_mutex> lock_exclusive() const {
    const std::lock_guard queue_lock(queue_mutex_);
    return std::unique_lock(mutex_);
  }
  [[nodiscard]] std::shared_lock<std::shared_mutex> lock_shared() const {
    const std::lock_guard queue_lock(queue_mutex_);
    return std::shared_lock(mutex_);
  }
  [[nodiscard]] std::size_t count() const { return graph_ && !is_growing_ ? graph_->size() : rows_.size(); }
  [[nodiscard]] bool contains(std::int64_t number) const {
    return graph_ && !is_growing_ ? graph_->contains(number) : rows_.find(number) != nullptr;
  }
  /// Rounding can exceed the range slightly.
  static std::vector<neighbour> clamp_similarities(std::vector<neighbour> entries) {
    for (auto& entry : entries) entry.similarity = std::clamp(entry.similarity, -1.0F, 1.0F);
    return entries;
  }

  void put_locked(std::int64_t number, std::span<const float> values) {
    if (!graph_ || is_growing_) rows_.put(number, values);
    if (!graph_ && rows_.size() > options_.max_exact) begin_graph();
    if (!graph_) return;
    graph_->put(number, values);
    if (is_growing_) move_rows();
  }

  void begin_graph() {
    graph_ = std::make_unique<graph>(options_.dimension);
    pending_ = rows_.numbers();
    is_growing_ = true;
  }
  void move_rows() {
    for (std::size_t moved = 0; moved < moves_per_put && !pending_.empty();) {
      const auto number = pending_.back();
      pending_.pop_back();
      const float* const values = rows_.find(number);
      if (values == nullptr || graph_->contains(number)) continue;
      graph_->put(number, {values, options_.dimension});
      ++moved;
    }
    if (!pending_.empty()) return;
    is_growing_ = false;
    rows_ = rows(options_.dimension);
    pending_ = {};
  }

  /// Returns to exact search because the set has become small, or because the graph failed. Even then, the graph still holds
  /// every vector.
  void revert_to_rows() {
    if (!is_growing_) {
      rows restored(options_.dimension);
      graph_->for_each([&](std::int64_t number, std::span<const float> values) { restored.put(number, values); });
      rows_ = std::move(restored);
    }
    graph_.reset();
    pending_ = {};
    is_growing_ = false;
  }
  void drop_graph() {
    if (graph_) revert_to_rows();
  }

  const index_options options_;
  mutable std::mutex queue_mutex_;
  mutable std::shared_mutex mutex_;
  rows rows_;                          // all vectors, until the graph has all of them
  std::unique_ptr<graph> graph_;       // null: the set is small
  bool is_growing_ = false;            // the graph does not have all vectors yet
  std::vector<std::int64_t> pending_;  // numbers of rows to move into the graph
};

}  // namespace

std::shared_ptr<vector_index> vector_index::make(index_options options) { return std::make_shared<hybrid_index>(options); }

}  // namespace hondana::embeddings
