/// Which vectors are nearest, in small sets and large ones; and reading what a service answers.
///
/// The vectors are of 384 numbers around a thousand middles. The large set takes a minute or two to build, which is printed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/json/base64.hpp"
#include "search/embeddings/embedding_response.hpp"
#include "search/embeddings/vector_index.hpp"

namespace {

namespace embeddings = hondana::embeddings;
using embeddings::vector_index;

constexpr std::size_t dimension = 384;

class clustered {
 public:
  clustered() : middles_(1'000) {
    for (auto& one : middles_) one = drawn();
  }
  std::vector<float> next() {
    auto out = drawn();
    const auto& middle = middles_[numbers_() % middles_.size()];
    float square = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = middle[i] + 0.6F * out[i];
      square += out[i] * out[i];
    }
    for (float& one : out) one /= std::sqrt(square);
    return out;
  }

 private:
  std::vector<float> drawn() {
    std::vector<float> out(dimension);
    for (float& one : out) one = normal_(numbers_);
    return out;
  }
  std::mt19937 numbers_{7};
  std::normal_distribution<float> normal_;
  std::vector<std::vector<float>> middles_;
};

struct made_set {
  std::shared_ptr<vector_index> of;
  std::vector<std::vector<float>> queries;
};

/// Of `size`, all of them looked at up to `exact_up_to`. Built once.
const made_set& set_of(std::int64_t size, std::size_t exact_up_to) {
  static std::vector<std::pair<std::int64_t, made_set>> made;
  for (const auto& [of, one] : made) {
    if (of == size) return one;
  }
  clustered from;
  made_set out{vector_index::make({.dimension = dimension, .max_exact = exact_up_to}), {}};
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < size; ++i) {
    if (!out.of->put(i, from.next())) std::abort();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%lld vectors put in %.2f s, %zu MiB, %s\n", static_cast<long long>(size), took.count(), out.of->bytes() >> 20,
              out.of->is_exact() ? "exact" : "graph");
  for (int i = 0; i < 200; ++i) out.queries.push_back(from.next());
  return made.emplace_back(size, std::move(out)).second;
}

void search(benchmark::State& state, const made_set& in) {
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(in.of->nearest(in.queries[i++ % in.queries.size()], 50));
}
void nearest_exact(benchmark::State& state) { search(state, set_of(state.range(0), 1'000'000)); }
void nearest_in_graph(benchmark::State& state) { search(state, set_of(state.range(0), 20'000)); }

/// 32 vectors of 1536 numbers.
std::string answer_of(bool is_base64) {
  std::mt19937 numbers{3};
  std::normal_distribution<float> normal;
  std::string out = R"({"object":"list","data":[)";
  for (int i = 0; i < 32; ++i) {
    std::vector<float> one(1536);
    for (float& number : one) number = normal(numbers) / 40;
    out += std::string(i == 0 ? "" : ",") + R"({"object":"embedding","index":)" + std::to_string(i) + R"(,"embedding":)";
    if (is_base64) {
      out += '"';
      hondana::json::append_base64(out, {reinterpret_cast<const char*>(one.data()), one.size() * sizeof(float)});
      out += '"';
    } else {
      char text[32];
      for (std::size_t j = 0; j < one.size(); ++j) {
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(one[j]));
        out += std::string(j == 0 ? "[" : ",") + text;
      }
      out += ']';
    }
    out += '}';
  }
  return out + R"(],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}})";
}

void read_answer(benchmark::State& state, bool is_base64) {
  const auto text = answer_of(is_base64);
  for (auto _ : state) benchmark::DoNotOptimize(embeddings::parse_vectors(text, 32));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

BENCHMARK_CAPTURE(read_answer, numbers, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(read_answer, base64, true)->Unit(benchmark::kMicrosecond);
BENCHMARK(nearest_exact)->Arg(20'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(nearest_in_graph)->Arg(100'001)->Unit(benchmark::kMicrosecond);

}  // namespace
