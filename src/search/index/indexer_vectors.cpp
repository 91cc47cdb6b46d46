/// The indexer: embeddings of passages.

#include <algorithm>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "base/json/utf8.hpp"
#include "search/index/indexer.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

constexpr std::size_t max_batch = 256;
constexpr std::chrono::milliseconds min_vector_delay{1'000};
constexpr std::chrono::milliseconds max_vector_delay{60'000};
/// Pause between checks. It limits how often a service with varying dimensions makes all vectors be computed again.
constexpr std::chrono::seconds check_interval{30};
/// Limit of texts that the service rejects individually. More indicate another problem.
constexpr std::size_t max_rejected = 1'000;
constexpr std::size_t max_excerpt_bytes = 60;

/// The beginning of the first line, which is the title.
std::string excerpt(std::string_view text) {
  std::string out;
  json::append_replacing(out, text.substr(0, std::min(text.find('\n'), max_excerpt_bytes)));
  return out;
}

std::shared_ptr<embeddings::vector_index> make_vector_index(std::size_t dimension, std::size_t max_vectors) {
  embeddings::vector_index::index_options options;
  options.dimension = dimension;
  options.max_vectors = max_vectors;
  return embeddings::vector_index::make(options);
}

}  // namespace

result<bool> indexer::load_vectors() {
  std::shared_ptr<embeddings::vector_index> vectors;
  bool is_mixed = false;
  const auto status = index_->storage->for_each_vector([&](passage_id passage, std::span<const float> numbers) {
    if (!vectors) vectors = make_vector_index(numbers.size(), index_->options.max_passages);
    is_mixed = is_mixed || numbers.size() != vectors->dimension();
    add_vector(*vectors, passage, numbers);
  });
  if (!status) return tl::unexpected(status.error());
  if (is_mixed) return false;
  index_->set_vectors(std::move(vectors));
  return true;
}

void indexer::add_vector(embeddings::vector_index& vectors, passage_id id, std::span<const float> numbers) {
  if (numbers.size() != vectors.dimension()) return;
  // May fail for lack of memory, for example. Search by words still finds the passage.
  if (const auto status = vectors.put(id.number, numbers); !status) problems_.report(problem_kind::vectors, status.error());
}

result<void> indexer::drop_vectors() {
  next_check_ = clock::now() + check_interval;
  index_->log_line("vectors of different lengths: the model has changed, so all are created again");
  index_->set_vectors(nullptr);
  for (const auto& model : {std::string(), index_->embedder->id()}) {
    HONDANA_TRY(index_->storage->use_model(model));
  }
  has_more_vectors_ = true;
  return {};
}

void indexer::load_new_vectors(std::span<const std::string> digests) {
  if (digests.empty() || !index_->embedder) return;
  auto vectors = index_->vectors();
  bool is_mixed = false;
  const auto status = index_->storage->for_each_vector_of(digests, [&](passage_id passage, std::span<const float> numbers) {
    if (!vectors) {
      vectors = make_vector_index(numbers.size(), index_->options.max_passages);
      index_->set_vectors(vectors);
    }
    is_mixed = is_mixed || numbers.size() != vectors->dimension();
    add_vector(*vectors, passage, numbers);
  });
  if (!status) return problems_.report(problem_kind::store, status.error());
  if (!is_mixed) return;
  if (auto dropped = drop_vectors(); !dropped) restart(dropped.error());
}

bool indexer::delay_vectors(const failure& error) {
  vector_delay_ = std::clamp(vector_delay_ * 2, min_vector_delay, max_vector_delay);
  next_vectors_ = clock::now() + std::max(vector_delay_, error.retry_after.value_or(std::chrono::milliseconds(0)));
  problems_.report(problem_kind::vectors, {error.code, "no vectors: " + error.public_text, error.private_text});
  return false;
}

result<std::vector<pending_vector>> indexer::texts_to_embed() {
  const auto count = std::min(max_batch, index_->options.embeddings ? 4 * index_->options.embeddings->batch_size : max_batch);
  // Request more, because rejected texts come first in each answer.
  auto pending = index_->storage->texts_without_vector(count + rejected_.size());
  if (!pending) return pending;
  std::erase_if(*pending, [this](const pending_vector& entry) { return rejected_.contains(entry.digest); });
  if (pending->size() > count) pending->resize(count);
  return pending;
}

bool indexer::embed_batch(const std::stop_token& stop) {
  auto pending = texts_to_embed();
  if (!pending) return delay_vectors(pending.error());
  if (pending->empty()) {
    has_more_vectors_ = false;
    return false;
  }
  std::vector<std::string> texts;
  texts.reserve(pending->size());
  for (auto& entry : *pending) texts.push_back(entry.text);
  auto embedded = index_->embedder->embed_documents(texts, stop);
  if (stop.stop_requested()) return false;
  if (!embedded) return delay_vectors(embedded.error());
  return store_vectors(std::move(*pending), std::move(*embedded));
}

bool indexer::store_vectors(std::vector<pending_vector> pending, std::vector<std::vector<float>> embedded) {
  std::vector<store::text_vector> accepted;
  std::vector<std::string> digests;
  accepted.reserve(embedded.size());
  digests.reserve(embedded.size());
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    if (embedded[i].empty()) {
      rejected_.insert(pending[i].digest);
      index_->log_line("the embedding service rejects a passage, which is found by words only: “" + excerpt(pending[i].text) +
                       "”");
      continue;
    }
    digests.push_back(pending[i].digest);
    accepted.push_back({std::move(pending[i].digest), std::move(embedded[i])});
  }
  if (rejected_.size() >= max_rejected)
    return delay_vectors({errc::protocol_error,
                          "the embedding service rejects " + std::to_string(rejected_.size()) + " passages, each sent alone",
                          {}});
  const auto vectors = index_->vectors();
  if (!accepted.empty() && vectors && vectors->dimension() != accepted.front().numbers.size()) {
    if (clock::now() < next_check_)
      return delay_vectors({errc::protocol_error, "the embedding service returns vectors of changing lengths", {}});
    if (auto dropped = drop_vectors(); !dropped) restart(dropped.error());
    return true;
  }
  if (auto status = index_->storage->put_vectors(accepted); !status) {
    index_->storage->roll_back();
    return delay_vectors(status.error());
  }
  if (auto committed = index_->storage->commit(); !committed) {
    index_->storage->roll_back();
    return delay_vectors(committed.error());
  }
  problems_.resolve(problem_kind::vectors);
  vector_delay_ = std::chrono::milliseconds(0);
  load_new_vectors(digests);
  publish_state(clock::now() >= next_count_);
  return true;
}

/// Checks, after a query has seen another dimension, whether the service now returns vectors of another dimension than the
/// stored ones.
void indexer::check_dimension(const std::stop_token& stop) {
  if (!index_->embedder || !index_->has_dimension_mismatch || clock::now() < next_check_) return;
  next_check_ = clock::now() + check_interval;
  index_->has_dimension_mismatch = false;
  const auto vectors = index_->vectors();
  if (!vectors) return;
  const std::vector<std::string> texts{"."};
  const auto embedded = index_->embedder->embed_documents(texts, stop);
  if (!embedded || embedded->front().empty() || embedded->front().size() == vectors->dimension()) return;
  if (auto dropped = drop_vectors(); !dropped) restart(dropped.error());
}

}  // namespace hondana::search
