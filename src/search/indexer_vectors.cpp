/// The thread that indexes: vectors.
#include <algorithm>
#include <utility>

#include "search/indexer.hpp"

namespace hondana::search {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_vectors_at_once = 256;
constexpr std::chrono::milliseconds first_pause{1'000};
constexpr std::chrono::milliseconds last_pause{60'000};

std::shared_ptr<embeddings::neighbours> set_of(std::size_t dimension, std::size_t most) {
  embeddings::neighbours::options how;
  how.dimension = dimension;
  how.most = most;
  return embeddings::neighbours::make(how);
}

}  // namespace

void indexer::load_vectors() {
  std::shared_ptr<embeddings::neighbours> near;
  bool is_mixed = false;
  const auto done = on_->kept->each_vector([&](passage_id id, std::span<const float> numbers) {
    if (!near) near = set_of(numbers.size(), on_->options.most_passages);
    if (!near->put(id.number, numbers)) is_mixed = true;
  });
  if (!done) return problem(done.error().public_text);
  if (is_mixed) return drop_vectors();
  on_->put_neighbours(std::move(near));
}

void indexer::drop_vectors() {
  on_->say("vectors of different lengths: the model has changed, so all are made anew");
  on_->put_neighbours(nullptr);
  for (const auto& model : {std::string(), on_->embedder->id()}) {
    if (auto set = on_->kept->use_model(model); !set) return problem(set.error().public_text);
  }
  has_more_vectors_ = true;
}

void indexer::take_vectors(std::span<const std::string> digests) {
  if (digests.empty() || !on_->embedder) return;
  auto near = on_->neighbours();
  bool is_mixed = false;
  const auto done = on_->kept->vectors_of(digests, [&](passage_id id, std::span<const float> numbers) {
    if (!near) {
      near = set_of(numbers.size(), on_->options.most_passages);
      on_->put_neighbours(near);
    }
    if (!near->put(id.number, numbers)) is_mixed = true;
  });
  if (!done) return problem(done.error().public_text);
  if (is_mixed) drop_vectors();
}

bool indexer::make_vectors(const std::stop_token& stop) {
  const auto later = [this](const failure& why) {
    vector_pause_ = std::clamp(vector_pause_ * 2, first_pause, last_pause);
    next_vectors_ = clock::now() + std::max(vector_pause_, why.retry.value_or(std::chrono::milliseconds(0)));
    problem("no vectors: " + why.public_text);
    return false;
  };
  const auto count =
      std::min(most_vectors_at_once, on_->options.embeddings ? 4 * on_->options.embeddings->batch : most_vectors_at_once);
  auto wanted = on_->kept->without_vector(count);
  if (!wanted) return later(wanted.error());
  if (wanted->empty()) {
    has_more_vectors_ = false;
    return false;
  }
  std::vector<std::string> texts;
  texts.reserve(wanted->size());
  for (auto& one : *wanted) texts.push_back(std::move(one.text));
  auto vectors = on_->embedder->of_documents(texts, stop);
  if (stop.stop_requested()) return false;
  if (!vectors) return later(vectors.error());
  std::vector<store::made_vector> made;
  std::vector<std::string> digests;
  made.reserve(vectors->size());
  digests.reserve(vectors->size());
  for (std::size_t i = 0; i < vectors->size(); ++i) {
    digests.push_back((*wanted)[i].digest);
    made.push_back({std::move((*wanted)[i].digest), std::move((*vectors)[i])});
  }
  if (auto put = on_->kept->put_vectors(made); !put) {
    roll_back();
    return later(put.error());
  }
  if (auto done = on_->kept->commit(); !done) return later(done.error());
  if (vector_pause_.count() != 0) problem({});
  vector_pause_ = std::chrono::milliseconds(0);
  take_vectors(digests);
  tell_state(clock::now() >= next_count_);
  return true;
}

}  // namespace hondana::search
