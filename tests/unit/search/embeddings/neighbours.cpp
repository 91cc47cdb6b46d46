/// Which vectors are nearest: of all, of a graph, and while one becomes the other.
#include "search/embeddings/vector_index.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "search/embeddings/inner_product.hpp"

namespace {

using hondana::errc;
using hondana::embeddings::vector_index;

/// Around middles of their own, as texts are around subjects.
class clustered_vectors {
 public:
  clustered_vectors(std::size_t dimension, std::size_t middles) : dimension_(dimension) {
    middles_.reserve(middles);
    for (std::size_t i = 0; i < middles; ++i) middles_.push_back(drawn());
  }
  std::vector<float> next() {
    auto out = drawn();
    const auto& middle = middles_[bits_() % middles_.size()];
    float square = 0;
    for (std::size_t i = 0; i < dimension_; ++i) {
      out[i] = middle[i] + 0.7F * out[i];
      square += out[i] * out[i];
    }
    for (float& one : out) one /= std::sqrt(square);
    return out;
  }

 private:
  std::vector<float> drawn() {
    std::vector<float> out(dimension_);
    for (float& one : out) one = normal_(bits_);
    return out;
  }
  std::size_t dimension_;
  std::mt19937 bits_{11};
  std::normal_distribution<float> normal_;
  std::vector<std::vector<float>> middles_;
};

std::vector<std::int64_t> numbers_in(const std::vector<vector_index::neighbour>& from) {
  std::vector<std::int64_t> out;
  out.reserve(from.size());
  for (const auto& one : from) out.push_back(one.number);
  return out;
}

/// How many of the nearest ten that `exact` finds `other` finds too.
double recall(const vector_index& exact, const vector_index& other, clustered_vectors& from, int queries) {
  std::size_t found = 0;
  for (int i = 0; i < queries; ++i) {
    const auto query = from.next();
    const auto wanted = numbers_in(exact.nearest(query, 10));
    for (const auto number : numbers_in(other.nearest(query, 10))) found += std::count(wanted.begin(), wanted.end(), number);
  }
  return static_cast<double>(found) / (10.0 * queries);
}

void put(vector_index& into, std::int64_t number, const std::vector<float>& what) {
  const auto done = into.put(number, what);
  ASSERT_TRUE(done) << done.error().public_text;
}

TEST(products_of_rows, are_the_same_with_and_without_vectors_of_the_machine) {
  clustered_vectors from(131, 3);
  const auto fastest = hondana::embeddings::fastest_product();
  const auto a = from.next(), b = from.next();
  for (std::size_t size = 0; size <= a.size(); ++size) {
    double wanted = 0;
    for (std::size_t i = 0; i < size; ++i) wanted += static_cast<double>(a[i]) * b[i];
    EXPECT_NEAR(fastest(a.data(), b.data(), size), wanted, 1e-6) << size;
    EXPECT_NEAR(hondana::embeddings::product_portable(a.data(), b.data(), size), wanted, 1e-6) << size;
  }
}

TEST(neighbours_of_a_vector, come_nearest_first_and_of_those_as_near_by_number) {
  const auto set = vector_index::make({.dimension = 2});
  put(*set, 9, {1, 0});
  put(*set, 3, {1, 0});
  put(*set, 5, {0, 1});
  put(*set, 4, {-1, 0});
  put(*set, 7, {1, 0});
  const auto all = set->nearest(std::vector<float>{1, 0}, 10);
  EXPECT_EQ(numbers_in(all), (std::vector<std::int64_t>{3, 7, 9, 5, 4}));
  EXPECT_FLOAT_EQ(all.front().similarity, 1);
  EXPECT_FLOAT_EQ(all.back().similarity, -1);
  EXPECT_EQ(numbers_in(set->nearest(std::vector<float>{1, 0}, 2)), (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(numbers_in(set->nearest(std::vector<float>{1, 0}, 2, [](std::int64_t one) { return one != 3; })),
            (std::vector<std::int64_t>{7, 9}));
  EXPECT_TRUE(set->is_exact());
  EXPECT_GT(set->bytes(), 0u);
}

TEST(neighbours_of_a_vector, are_none_in_an_empty_set_and_of_a_wrong_question) {
  const auto set = vector_index::make({.dimension = 2});
  EXPECT_TRUE(set->nearest(std::vector<float>{1, 0}, 10).empty());
  set->remove(1);
  put(*set, 1, {1, 0});
  EXPECT_TRUE(set->nearest(std::vector<float>{1, 0}, 0).empty());
  EXPECT_TRUE(set->nearest(std::vector<float>{1, 0, 0}, 10).empty());
  EXPECT_TRUE(set->nearest(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 0}, 10).empty());
  EXPECT_TRUE(set->nearest(std::vector<float>{1, 0}, 10, [](std::int64_t) { return false; }).empty());
}

TEST(neighbours_of_a_vector, refuse_another_dimension_what_is_not_finite_and_more_than_the_most) {
  const auto set = vector_index::make({.dimension = 2, .max_vectors = 2});
  const auto other = set->put(1, std::vector<float>{1, 0, 0});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::invalid_argument);
  EXPECT_NE(other.error().public_text.find("3 numbers"), std::string::npos);
  EXPECT_EQ(set->put(1, std::vector<float>{1, std::numeric_limits<float>::infinity()}).error().code, errc::invalid_argument);
  EXPECT_EQ(vector_index::make({})->put(1, {}).error().code, errc::invalid_argument);
  put(*set, 1, {1, 0});
  put(*set, 2, {0, 1});
  EXPECT_EQ(set->put(3, std::vector<float>{1, 0}).error().code, errc::overloaded);
  put(*set, 2, {1, 0});
  EXPECT_EQ(set->size(), 2u);
}

TEST(neighbours_of_a_vector, are_found_in_a_graph_nearly_as_in_all) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::int64_t count = 2'000;
#else
  constexpr std::int64_t count = 8'000;
#endif
  clustered_vectors from(64, 300);
  const auto exact = vector_index::make({.dimension = 64, .max_exact = 1'000'000});
  const auto graph = vector_index::make({.dimension = 64, .max_exact = 500});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto one = from.next();
    put(*exact, i, one);
    put(*graph, i, one);
  }
  EXPECT_TRUE(exact->is_exact());
  EXPECT_FALSE(graph->is_exact());
  EXPECT_EQ(graph->size(), static_cast<std::size_t>(count));
  EXPECT_GE(recall(*exact, *graph, from, 200), 0.95);
  // What few are admitted of is looked for in all.
  const auto admits = [](std::int64_t one) { return one % 1'000 == 7; };
  const auto query = from.next();
  EXPECT_EQ(numbers_in(graph->nearest(query, 5, admits)), numbers_in(exact->nearest(query, 5, admits)));
  EXPECT_EQ(graph->nearest(query, 1'500).size(), 1'500u);
}

/// Puts, replaces and removes by chance, and compares with what ought to be there.
void churn(std::size_t exact_up_to, std::size_t middling, int steps, double least_recall) {
  clustered_vectors from(24, 40);
  const auto set = vector_index::make({.dimension = 24, .max_exact = exact_up_to});
  const auto exact = vector_index::make({.dimension = 24, .max_exact = 1'000'000});
  std::mt19937 chance(5);
  std::set<std::int64_t> there;
  for (int step = 0; step < steps; ++step) {
    const auto number = static_cast<std::int64_t>(chance() % (2 * middling));
    if (chance() % 2 == 0) {
      const auto one = from.next();
      put(*set, number, one);
      put(*exact, number, one);
      there.insert(number);
    } else {
      set->remove(number);
      exact->remove(number);
      there.erase(number);
    }
    if (step % 500 != 0) continue;
    ASSERT_EQ(set->size(), there.size());
    const auto found = set->nearest(from.next(), 20);
    EXPECT_EQ(found.size(), std::min<std::size_t>(20, there.size()));
    for (const auto& one : found) ASSERT_TRUE(there.contains(one.number)) << one.number;
  }
  EXPECT_GE(recall(*exact, *set, from, 100), least_recall);
  for (const auto number : std::vector<std::int64_t>(there.begin(), there.end())) set->remove(number);
  EXPECT_EQ(set->size(), 0u);
  EXPECT_TRUE(set->is_exact());
  EXPECT_TRUE(set->nearest(from.next(), 5).empty());
}

#ifdef HONDANA_IS_SANITIZED
constexpr int churning = 2'000;
#else
constexpr int churning = 6'000;
#endif

TEST(neighbours_of_a_vector, stay_right_while_many_come_and_go_in_a_small_set) { churn(1'000'000, 500, churning, 1); }
TEST(neighbours_of_a_vector, stay_right_while_many_come_and_go_in_a_graph) { churn(100, 500, churning, 0.95); }
TEST(neighbours_of_a_vector, stay_right_on_the_way_between_all_and_a_graph) { churn(480, 500, churning, 0.95); }

TEST(neighbours_of_a_vector, that_is_put_again_are_those_of_its_new_place) {
  const auto set = vector_index::make({.dimension = 3, .max_exact = 4});
  clustered_vectors from(3, 8);
  for (std::int64_t i = 0; i < 50; ++i) put(*set, i, from.next());
  ASSERT_FALSE(set->is_exact());
  put(*set, 20, {1, 0, 0});
  put(*set, 20, {0, 0, -1});
  put(*set, 20, {0, 1, 0});
  EXPECT_EQ(set->size(), 50u);
  const auto found = set->nearest(std::vector<float>{0, 1, 0}, 50);
  EXPECT_EQ(found.front().number, 20);
  EXPECT_FLOAT_EQ(found.front().similarity, 1);
}

TEST(neighbours_of_a_vector, stay_exact_until_the_graph_has_all) {
  const auto set = vector_index::make({.dimension = 8, .max_exact = 100});
  const auto exact = vector_index::make({.dimension = 8, .max_exact = 1'000});
  clustered_vectors from(8, 5);
  for (std::int64_t i = 0; i < 110; ++i) {
    const auto one = from.next();
    put(*set, i, one);
    put(*exact, i, one);
  }
  EXPECT_TRUE(set->is_exact());
  const auto query = from.next();
  EXPECT_EQ(numbers_in(set->nearest(query, 110)), numbers_in(exact->nearest(query, 110)));
  for (std::int64_t i = 110; i < 140; ++i) put(*set, i, from.next());
  EXPECT_FALSE(set->is_exact());
  EXPECT_EQ(set->size(), 140u);
  // Far fewer are all looked at again.
  for (std::int64_t i = 0; i < 95; ++i) set->remove(i);
  EXPECT_TRUE(set->is_exact());
  EXPECT_EQ(set->size(), 45u);
  EXPECT_EQ(set->nearest(query, 100).size(), 45u);
}

TEST(neighbours_of_a_vector, are_searched_by_several_threads_while_they_change) {
  const auto set = vector_index::make({.dimension = 16, .max_exact = 200});
  clustered_vectors from(16, 10);
  std::vector<std::vector<float>> made;
  made.reserve(800);
  for (int i = 0; i < 800; ++i) made.push_back(from.next());
  std::atomic<bool> is_done = false;
  std::vector<std::thread> searching;
  searching.reserve(2);
  for (int i = 0; i < 2; ++i) {
    searching.emplace_back([&, i] {
      for (std::size_t j = static_cast<std::size_t>(i); !is_done; ++j) {
        const auto found = set->nearest(made[j % made.size()], 10);
        EXPECT_LE(found.size(), 10u);
      }
    });
  }
  for (std::int64_t i = 0; i < 800; ++i) {
    put(*set, i, made[static_cast<std::size_t>(i)]);
    if (i % 3 == 0) set->remove(i / 2);
  }
  is_done = true;
  for (auto& one : searching) one.join();
  EXPECT_GT(set->size(), 400u);
}

}  // namespace
