/// All of a small set, a graph of a large one, and the way from one to the other.
#include "search/embeddings/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "search/embeddings/best.hpp"
#include "search/embeddings/graph.hpp"
#include "search/embeddings/rows.hpp"

namespace hondana::embeddings {
namespace {

/// A graph of twenty thousand takes many seconds, in which nobody would be answered. So the rows stay where they are, and each
/// that comes brings some of them along.
constexpr std::size_t brought_along = 4;
/// So many of the nearest are looked at before all are, where most are not admitted.
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
  /// Whoever waits to change lets no further search begin: a lock that prefers searches would let it wait for as long as there
  /// are any.
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
  /// Rounding goes a little beyond.
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

  /// The set has become small again, or the graph is not to be trusted: with the numbers, every vector is still there.
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
  rows rows_;                          // all of them, until the graph has all
  std::unique_ptr<graph> graph_;       // null: the set is small
  bool is_growing_ = false;            // the graph has not all yet
  std::vector<std::int64_t> waiting_;  // of the rows, for the graph
};

}  // namespace

std::shared_ptr<neighbours> neighbours::make(options how) { return std::make_shared<set_of_vectors>(how); }

}  // namespace hondana::embeddings
