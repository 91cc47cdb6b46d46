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
[[nodiscard]] inline bool is_nearer(const neighbours::near_one& a, const neighbours::near_one& b) noexcept {
  return a.closeness != b.closeness ? a.closeness > b.closeness : a.number < b.number;
}

/// Keeps the `most` nearest elements. Threads: one at a time.
class best {
 public:
  best(std::size_t most, const std::function<bool(std::int64_t)>& admits) : most_(most), admits_(admits) {}

  /// Calls `admits` only for an element that is near enough. `one.closeness` must not be NaN.
  void offer(const neighbours::near_one& one) {
    if (kept_.size() == most_ && (most_ == 0 || !is_nearer(one, kept_.front()))) return;
    if (admits_ && !admits_(one.number)) return;
    if (kept_.size() == most_) {
      std::pop_heap(kept_.begin(), kept_.end(), is_nearer);
      kept_.back() = one;
    } else {
      kept_.push_back(one);
    }
    std::push_heap(kept_.begin(), kept_.end(), is_nearer);
  }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  /// Returns the elements, nearest first.
  [[nodiscard]] std::vector<neighbours::near_one> take() {
    std::sort_heap(kept_.begin(), kept_.end(), is_nearer);
    return std::move(kept_);
  }

 private:
  std::size_t most_;
  const std::function<bool(std::int64_t)>& admits_;
  std::vector<neighbours::near_one> kept_;  // a heap, the farthest in front
};

/// Vectors in contiguous blocks, for exact search. Threads: one at a time; several may read.
class rows {
 public:
  explicit rows(std::size_t dimension);

  void put(std::int64_t number, std::span<const float> what);
  /// Returns false if there is no such vector.
  bool remove(std::int64_t number);
  /// Null if there is no such vector. Valid until the next change.
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
  std::vector<std::unique_ptr<float[]>> blocks_;  // blocks, so that growing copies nothing
  std::vector<std::int64_t> numbers_;             // by place
  std::unordered_map<std::int64_t, std::size_t> places_;
};

rows::rows(std::size_t dimension) : dimension_(dimension) {}

void rows::put(std::int64_t number, std::span<const float> what) {
  const auto found = places_.find(number);
  std::size_t place = numbers_.size();
  if (found != places_.end()) {
    place = found->second;
  } else {
    if (place == blocks_.size() * in_a_block)
      blocks_.push_back(std::make_unique_for_overwrite<float[]>(in_a_block * dimension_));
    numbers_.push_back(number);
    places_.emplace(number, place);
  }
  std::copy(what.begin(), what.end(), at(place));
}

bool rows::remove(std::int64_t number) {
  const auto found = places_.find(number);
  if (found == places_.end()) return false;
  const auto place = found->second;
  const auto last = numbers_.size() - 1;
  places_.erase(found);
  if (place != last) {
    std::copy_n(at(last), dimension_, at(place));
    numbers_[place] = numbers_[last];
    places_[numbers_[place]] = place;
  }
  numbers_.pop_back();
  // Keep one spare block, so that repeated additions and removals at the boundary cost nothing.
  if (blocks_.size() * in_a_block >= numbers_.size() + 2 * in_a_block) blocks_.pop_back();
  return true;
}

const float* rows::find(std::int64_t number) const {
  const auto found = places_.find(number);
  return found == places_.end() ? nullptr : at(found->second);
}

void rows::offer_all(const float* to, best& into) const {
  for (std::size_t place = 0; place < numbers_.size(); ++place)
    into.offer({numbers_[place], product_(to, at(place), dimension_)});
}

std::size_t rows::bytes() const noexcept {
  constexpr std::size_t beside = 2 * sizeof(std::int64_t) + 40;  // numbers and places
  return blocks_.size() * in_a_block * dimension_ * sizeof(float) + numbers_.size() * beside;
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

  void put(std::int64_t number, std::span<const float> what);
  bool remove(std::int64_t number);
  [[nodiscard]] bool has(std::int64_t number) const;
  /// Offers approximately `count` of the nearest elements.
  void offer_nearest(const float* to, std::size_t count, best& into) const;
  /// Offers every element.
  void offer_all(const float* to, best& into) const;
  /// Calls `take(number, vector)` for every element, in no particular order.
  void each(const std::function<void(std::int64_t, std::span<const float>)>& take) const;
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
constexpr std::size_t looked_at_when_put = 200;
constexpr std::size_t looked_at_when_searched = 128;
constexpr std::size_t first_room = 1024;

/// The distance for hnswlib: one minus the inner product. The reported size is padded so that the data that hnswlib stores
/// after each vector is aligned.
class inner_products final : public hnswlib::SpaceInterface<float> {
 public:
  explicit inner_products(std::size_t dimension) : shape_{fastest_product(), dimension} {}
  std::size_t get_data_size() override { return floats() * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &shape_; }
  [[nodiscard]] std::size_t floats() const noexcept { return shape_.dimension | 1u; }

 private:
  struct shape {
    product multiply;
    std::size_t dimension;
  };
  static float distance(const void* a, const void* b, const void* of) {
    const auto& by = *static_cast<const shape*>(of);
    return 1 - by.multiply(static_cast<const float*>(a), static_cast<const float*>(b), by.dimension);
  }
  shape shape_;
};

}  // namespace

struct graph::state {
  using index = hnswlib::HierarchicalNSW<float>;
  std::size_t dimension;
  inner_products space;
  std::unique_ptr<index> in;
  std::vector<std::int64_t> numbers{};  // by place
  std::vector<std::size_t> free{};      // places of elements marked as deleted
  std::unordered_map<std::int64_t, std::size_t> places{};
  std::vector<float> padded;
  bool is_resizing = false;

  explicit state(std::size_t of)
      : dimension(of),
        space(of),
        in(std::make_unique<index>(&space, first_room, links, looked_at_when_put)),
        padded(space.floats()) {
    in->setEf(looked_at_when_searched);
  }
  ~state() {
    // If resizing threw an exception, the destructor of hnswlib would free memory twice. Leak it instead.
    if (is_resizing) static_cast<void>(in.release());
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Labels equal hnswlib's internal ids, because both are assigned in the same order.
  [[nodiscard]] const float* at(std::size_t place) const {
    return reinterpret_cast<const float*>(in->getDataByInternalId(static_cast<hnswlib::tableint>(place)));
  }
  void make_room() {
    if (numbers.size() < in->max_elements_) return;
    is_resizing = true;
    in->resizeIndex(in->max_elements_ * 3 / 2);
    is_resizing = false;
  }
  std::size_t place_for(std::int64_t number) {
    if (const auto found = places.find(number); found != places.end()) return found->second;
    if (free.empty()) {
      make_room();
      const auto place = numbers.size();
      numbers.push_back(number);
      places.emplace(number, place);
      return place;
    }
    const auto place = free.back();
    free.pop_back();
    numbers[place] = number;
    places.emplace(number, place);
    return place;
  }
};

graph::graph(std::size_t dimension) : state_(std::make_unique<state>(dimension)) {}
graph::~graph() = default;

void graph::put(std::int64_t number, std::span<const float> what) {
  auto& my = *state_;
  const auto place = my.place_for(number);
  std::copy(what.begin(), what.end(), my.padded.begin());
  try {
    my.in->addPoint(my.padded.data(), place);
  } catch (...) {
    my.places.erase(number);
    throw;
  }
}

bool graph::remove(std::int64_t number) {
  auto& my = *state_;
  const auto found = my.places.find(number);
  if (found == my.places.end()) return false;
  my.in->markDelete(found->second);
  my.free.push_back(found->second);
  my.places.erase(found);
  return true;
}

bool graph::has(std::int64_t number) const { return state_->places.contains(number); }

void graph::offer_nearest(const float* to, std::size_t count, best& into) const {
  auto found = state_->in->searchKnn(to, count);
  for (; !found.empty(); found.pop()) into.offer({state_->numbers[found.top().second], 1 - found.top().first});
}

void graph::offer_all(const float* to, best& into) const {
  const auto multiply = fastest_product();
  for (const auto& [number, place] : state_->places) into.offer({number, multiply(to, state_->at(place), state_->dimension)});
}

void graph::each(const std::function<void(std::int64_t, std::span<const float>)>& take) const {
  for (const auto& [number, place] : state_->places) take(number, {state_->at(place), state_->dimension});
}

std::size_t graph::size() const noexcept { return state_->places.size(); }

std::size_t graph::bytes() const noexcept {
  const auto& my = *state_;
  // Per element: a lock, a level and a pointer. A fifteenth of the elements are on higher levels. `of_each`: numbers and
  // places. Each search needs one mark per element.
  constexpr std::size_t beside = sizeof(std::mutex) + sizeof(int) + sizeof(void*) + 2;
  constexpr std::size_t of_each = 120;
  return my.in->max_elements_ * (my.in->size_data_per_element_ + beside) +
         my.numbers.size() * (of_each + my.in->size_links_per_element_ / (links - 1)) +
         hnswlib::HierarchicalNSW<float>::max_update_element_locks * sizeof(std::mutex);
}

namespace {

/// Building a graph of twenty thousand vectors takes many seconds. To avoid blocking searches for that long, the rows stay in
/// use, and each `put` moves this many of them into the graph.
constexpr std::size_t brought_along = 4;
/// The number of nearest elements to try first, before a full scan, in case `admits` rejects most.
constexpr std::size_t first_look = 128;
constexpr std::size_t second_look = 1024;

bool is_finite(std::span<const float> what) {
  return std::all_of(what.begin(), what.end(), [](float one) { return std::isfinite(one); });
}

class set_of_vectors final : public neighbours {
 public:
  explicit set_of_vectors(options how) : how_(how), rows_(how.dimension) {}

  result<void> put(std::int64_t number, std::span<const float> what) override {
    if (what.size() != how_.dimension || how_.dimension == 0)
      return fail(errc::invalid_argument, "a vector of " + std::to_string(what.size()) +
                                              " numbers cannot be added to vectors of " + std::to_string(how_.dimension) +
                                              "; vectors of different models are not comparable");
    if (!is_finite(what)) return fail(errc::invalid_argument, "a vector has numbers that are not finite");
    const auto lock = alone();
    if (count() >= how_.most && !has(number))
      return fail(errc::overloaded, "there are " + std::to_string(how_.most) + " vectors, which is the limit");
    try {
      put_locked(number, what);
    } catch (const std::exception& e) {
      give_up_graph();
      return fail(errc::overloaded, "a vector could not be stored, probably for lack of memory", e.what());
    }
    return {};
  }

  void remove(std::int64_t number) override {
    const auto lock = alone();
    if (!graph_) {
      rows_.remove(number);
      return;
    }
    if (is_growing_) rows_.remove(number);
    try {
      graph_->remove(number);
      if (count() < how_.exact_up_to / 2) back_to_rows();
    } catch (const std::exception&) {
      give_up_graph();
      rows_.remove(number);
    }
  }

  std::vector<near_one> nearest(std::span<const float> to, std::size_t wanted,
                                const std::function<bool(std::int64_t)>& admits) const override {
    if (to.size() != how_.dimension || wanted == 0 || !is_finite(to)) return {};
    const auto lock = together();
    wanted = std::min(wanted, count());
    if (graph_ && !is_growing_) {
      for (const auto look : {first_look, second_look}) {
        if (wanted > look / 2) continue;
        best found(wanted, admits);
        graph_->offer_nearest(to.data(), look, found);
        if (found.size() == wanted) return cut(found.take());
      }
    }
    best found(wanted, admits);
    if (graph_ && !is_growing_)
      graph_->offer_all(to.data(), found);
    else
      rows_.offer_all(to.data(), found);
    return cut(found.take());
  }

  std::size_t dimension() const noexcept override { return how_.dimension; }
  std::size_t size() const override {
    const auto lock = together();
    return count();
  }
  bool is_exact() const override {
    const auto lock = together();
    return !graph_ || is_growing_;
  }
  std::size_t bytes() const override {
    const auto lock = together();
    return rows_.bytes() + (graph_ ? graph_->bytes() : 0) + waiting_.capacity() * sizeof(std::int64_t);
  }

 private:
  /// Locks for a change. A waiting change also blocks new searches; otherwise continuous searches could delay it forever.
  [[nodiscard]] std::unique_lock<std::shared_mutex> alone() const {
    const std::lock_guard turn(turn_);
    return std::unique_lock(mutex_);
  }
  [[nodiscard]] std::shared_lock<std::shared_mutex> together() const {
    const std::lock_guard turn(turn_);
    return std::shared_lock(mutex_);
  }
  [[nodiscard]] std::size_t count() const { return graph_ && !is_growing_ ? graph_->size() : rows_.size(); }
  [[nodiscard]] bool has(std::int64_t number) const {
    return graph_ && !is_growing_ ? graph_->has(number) : rows_.find(number) != nullptr;
  }
  /// Rounding can exceed the range slightly.
  static std::vector<near_one> cut(std::vector<near_one> from) {
    for (auto& one : from) one.closeness = std::clamp(one.closeness, -1.0F, 1.0F);
    return from;
  }

  void put_locked(std::int64_t number, std::span<const float> what) {
    if (!graph_ || is_growing_) rows_.put(number, what);
    if (!graph_ && rows_.size() > how_.exact_up_to) begin_graph();
    if (!graph_) return;
    graph_->put(number, what);
    if (is_growing_) bring_along();
  }

  void begin_graph() {
    graph_ = std::make_unique<graph>(how_.dimension);
    waiting_ = rows_.numbers();
    is_growing_ = true;
  }
  void bring_along() {
    for (std::size_t brought = 0; brought < brought_along && !waiting_.empty();) {
      const auto number = waiting_.back();
      waiting_.pop_back();
      const float* const what = rows_.find(number);
      if (what == nullptr || graph_->has(number)) continue;
      graph_->put(number, {what, how_.dimension});
      ++brought;
    }
    if (!waiting_.empty()) return;
    is_growing_ = false;
    rows_ = rows(how_.dimension);
    waiting_ = {};
  }

  /// Returns to exact search because the set has become small, or because the graph failed. Even then, the graph still holds
  /// every vector.
  void back_to_rows() {
    if (!is_growing_) {
      rows again(how_.dimension);
      graph_->each([&](std::int64_t number, std::span<const float> what) { again.put(number, what); });
      rows_ = std::move(again);
    }
    graph_.reset();
    waiting_ = {};
    is_growing_ = false;
  }
  void give_up_graph() {
    if (graph_) back_to_rows();
  }

  const options how_;
  mutable std::mutex turn_;
  mutable std::shared_mutex mutex_;
  rows rows_;                          // all vectors, until the graph has all of them
  std::unique_ptr<graph> graph_;       // null: the set is small
  bool is_growing_ = false;            // the graph does not have all vectors yet
  std::vector<std::int64_t> waiting_;  // numbers of rows to move into the graph
};

}  // namespace

std::shared_ptr<neighbours> neighbours::make(options how) { return std::make_shared<set_of_vectors>(how); }

}  // namespace hondana::embeddings
