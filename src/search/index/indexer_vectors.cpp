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

constexpr std::size_t most_vectors_at_once = 256;
constexpr std::chrono::milliseconds first_pause{1'000};
constexpr std::chrono::milliseconds last_pause{60'000};
/// Pause between checks. It limits how often a service with varying dimensions makes all vectors be computed again.
constexpr std::chrono::seconds between_checks{30};
/// Limit of texts that the service rejects individually. More indicate another problem.
constexpr std::size_t most_refused = 1'000;
constexpr std::size_t most_said = 60;

/// The beginning of the first line, which is the title.
std::string front_of(std::string_view text) {
  std::string out;
  json::append_replacing(out, text.substr(0, std::min(text.find('\n'), most_said)));
  return out;
}

std::shared_ptr<embeddings::neighbours> set_of(std::size_t dimension, std::size_t most) {
  embeddings::neighbours::options how;
  how.dimension = dimension;
  how.most = most;
  return embeddings::neighbours::make(how);
}

}  // namespace

result<bool> indexer::read_vectors() {
  std::shared_ptr<embeddings::neighbours> near;
  bool is_mixed = false;
  const auto done = on_->kept->each_vector([&](passage_id id, std::span<const float> numbers) {
    if (!near) near = set_of(numbers.size(), on_->options.most_passages);
    is_mixed = is_mixed || numbers.size() != near->dimension();
    keep_near(*near, id, numbers);
  });
  if (!done) return tl::unexpected(done.error());
  if (is_mixed) return false;
  on_->put_neighbours(std::move(near));
  return true;
}

void indexer::keep_near(embeddings::neighbours& in, passage_id id, std::span<const float> numbers) {
  if (numbers.size() != in.dimension()) return;
  // May fail for lack of memory, for example. Search by words still finds the passage.
  if (const auto put = in.put(id.number, numbers); !put) troubles_.have(trouble::vectors, put.error());
}

result<void> indexer::drop_vectors() {
  next_check_ = clock::now() + between_checks;
  on_->say("vectors of different lengths: the model has changed, so all are created again");
  on_->put_neighbours(nullptr);
  for (const auto& model : {std::string(), on_->embedder->id()}) {
    HONDANA_TRY(on_->kept->use_model(model));
  }
  has_more_vectors_ = true;
  return {};
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
    is_mixed = is_mixed || numbers.size() != near->dimension();
    keep_near(*near, id, numbers);
  });
  if (!done) return troubles_.have(trouble::store, done.error());
  if (!is_mixed) return;
  if (auto dropped = drop_vectors(); !dropped) begin_anew(dropped.error());
}

bool indexer::pause_vectors(const failure& why) {
  vector_pause_ = std::clamp(vector_pause_ * 2, first_pause, last_pause);
  next_vectors_ = clock::now() + std::max(vector_pause_, why.retry.value_or(std::chrono::milliseconds(0)));
  troubles_.have(trouble::vectors, {why.code, "no vectors: " + why.public_text, why.private_text});
  return false;
}

result<std::vector<wanted_vector>> indexer::texts_to_embed() {
  const auto count =
      std::min(most_vectors_at_once, on_->options.embeddings ? 4 * on_->options.embeddings->batch : most_vectors_at_once);
  // Request more, because rejected texts come first in each answer.
  auto wanted = on_->kept->without_vector(count + refused_.size());
  if (!wanted) return wanted;
  std::erase_if(*wanted, [this](const wanted_vector& one) { return refused_.contains(one.digest); });
  if (wanted->size() > count) wanted->resize(count);
  return wanted;
}

bool indexer::make_vectors(const std::stop_token& stop) {
  auto wanted = texts_to_embed();
  if (!wanted) return pause_vectors(wanted.error());
  if (wanted->empty()) {
    has_more_vectors_ = false;
    return false;
  }
  std::vector<std::string> texts;
  texts.reserve(wanted->size());
  for (auto& one : *wanted) texts.push_back(one.text);
  auto vectors = on_->embedder->of_documents(texts, stop);
  if (stop.stop_requested()) return false;
  if (!vectors) return pause_vectors(vectors.error());
  return keep_vectors(std::move(*wanted), std::move(*vectors));
}

bool indexer::keep_vectors(std::vector<wanted_vector> of, std::vector<std::vector<float>> made) {
  std::vector<store::made_vector> put;
  std::vector<std::string> digests;
  put.reserve(made.size());
  digests.reserve(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].empty()) {
      refused_.insert(of[i].digest);
      on_->say("the embedding service rejects a passage, which is found by words only: “" + front_of(of[i].text) + "”");
      continue;
    }
    digests.push_back(of[i].digest);
    put.push_back({std::move(of[i].digest), std::move(made[i])});
  }
  if (refused_.size() >= most_refused)
    return pause_vectors({errc::broken_protocol,
                          "the embedding service rejects " + std::to_string(refused_.size()) + " passages, each sent alone",
                          {}});
  const auto near = on_->neighbours();
  if (!put.empty() && near && near->dimension() != put.front().numbers.size()) {
    if (clock::now() < next_check_)
      return pause_vectors({errc::broken_protocol, "the embedding service returns vectors of changing lengths", {}});
    if (auto dropped = drop_vectors(); !dropped) begin_anew(dropped.error());
    return true;
  }
  if (auto done = on_->kept->put_vectors(put); !done) {
    on_->kept->roll_back();
    return pause_vectors(done.error());
  }
  if (auto done = on_->kept->commit(); !done) {
    on_->kept->roll_back();
    return pause_vectors(done.error());
  }
  troubles_.end(trouble::vectors);
  vector_pause_ = std::chrono::milliseconds(0);
  take_vectors(digests);
  tell_state(clock::now() >= next_count_);
  return true;
}

/// Checks, after a query has seen another dimension, whether the service now returns vectors of another dimension than the
/// stored ones.
void indexer::check_vectors(const std::stop_token& stop) {
  if (!on_->embedder || !on_->are_vectors_doubted || clock::now() < next_check_) return;
  next_check_ = clock::now() + between_checks;
  on_->are_vectors_doubted = false;
  const auto near = on_->neighbours();
  if (!near) return;
  const std::vector<std::string> texts{"."};
  const auto made = on_->embedder->of_documents(texts, stop);
  if (!made || made->front().empty() || made->front().size() == near->dimension()) return;
  if (auto dropped = drop_vectors(); !dropped) begin_anew(dropped.error());
}

}  // namespace hondana::search
