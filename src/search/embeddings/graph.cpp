/// hnswlib's graph, with labels of our own: places, which are used again.
#include "search/embeddings/graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

// Its own kernels are chosen when it is compiled, and with them come functions of common names for the whole program. Ours are
// chosen at run time.
#define NO_MANUAL_VECTORIZATION
// It copies nothing from nowhere where a list is empty.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute"))), apply_to = function)
#endif
#include <hnswlib/hnswlib.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "search/embeddings/products.hpp"

namespace hondana::embeddings {
namespace {

constexpr std::size_t links = 16;
constexpr std::size_t looked_at_when_put = 200;
constexpr std::size_t looked_at_when_searched = 128;
constexpr std::size_t first_room = 1024;

/// One minus the inner product. The library is told of a size that keeps its own numbers behind each vector aligned.
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
  std::vector<std::size_t> free{};      // places that are marked
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
    // What a throw has left half resized would free again what it has freed.
    if (is_resizing) static_cast<void>(in.release());
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Labels are given out in the order in which the library numbers its elements.
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
  // Locks, a level and a pointer each; higher levels have a fifteenth of the elements; numbers and places; a mark each of those
  // that search.
  constexpr std::size_t beside = sizeof(std::mutex) + sizeof(int) + sizeof(void*) + 2;
  constexpr std::size_t of_each = 120;
  return my.in->max_elements_ * (my.in->size_data_per_element_ + beside) +
         my.numbers.size() * (of_each + my.in->size_links_per_element_ / (links - 1)) +
         hnswlib::HierarchicalNSW<float>::max_update_element_locks * sizeof(std::mutex);
}

}  // namespace hondana::embeddings
