/// The thread that indexes: whether it is its turn to, and what it does where another keeps the index up.
#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "search/index/indexer.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

/// Reading all vectors anew takes long where there are many.
constexpr std::chrono::seconds between_readings_of_vectors{10};
constexpr std::chrono::seconds between_counts_of_another{2};

}  // namespace

bool indexer::take_turn(const std::stop_token& stop) {
  const auto given = on_->kept->take_turn();
  if (!given) {
    troubles_.have(trouble::store, given.error());
    wait_after_failure(stop);
    return false;
  }
  if (!given->is_ours) {
    if (std::exchange(life_, std::nullopt)) {
      begin_anew();
      // What the other lacks it does not say.
      on_->put_missing({});
    }
    follow();
    wait_for(between_turns, stop);
    return false;
  }
  if (life_ == given->life) return true;
  life_ = given->life;
  begin_anew();
  // The same numbers may name other passages now; what is near is read again with all else.
  on_->put_neighbours(nullptr);
  next_look_ = clock::now();
  on_->change_state([this](search_state& state) { state.problem = troubles_.words(); });
  return true;
}

void indexer::follow_vectors(const index_standing& now) {
  if (followed_ && now.commits < *followed_) {
    // It is another index than the one whose vectors these are.
    on_->put_neighbours(nullptr);
    followed_.reset();
    next_vectors_ = clock::now();
  }
  const bool has_others = on_->embedder && now.model == on_->embedder->id() && followed_ != now.commits;
  if (!has_others) return troubles_.end(trouble::store);
  if (clock::now() < next_vectors_) return;
  next_vectors_ = clock::now() + between_readings_of_vectors;
  const auto are_alike = read_vectors();
  // What could not be read now is read the next time, whether or not there is more by then.
  if (!are_alike) return troubles_.have(trouble::store, are_alike.error());
  followed_ = now.commits;
  troubles_.end(trouble::store);
  // Of different lengths they are while another model's come into the place of these.
  if (!*are_alike) on_->put_neighbours(nullptr);
}

void indexer::follow() {
  const auto now = on_->kept->stands();
  if (!now) return troubles_.have(trouble::store, now.error());
  // Counting takes long where there is much.
  if (counted_ != now->commits && clock::now() >= next_count_) {
    const auto counts = on_->kept->counts();
    if (!counts) return troubles_.have(trouble::store, counts.error());
    next_count_ = clock::now() + between_counts_of_another;
    counted_ = now->commits;
    on_->change_state([&](search_state& state) {
      state.resources = counts->documents;
      state.passages = counts->passages;
      state.vectors = counts->vectors;
      state.without_text = counts->without_text;
      state.bytes = counts->bytes;
    });
  }
  follow_vectors(*now);
  const auto unread = words_for(trouble::store);
  const bool is_unread = troubles_.words() == unread;
  const bool is_complete = now->how && now->how->is_complete && !is_unread;
  const bool has_looked = is_complete || (now->how && now->how->has_looked);
  on_->has_looked = has_looked;
  on_->change_state([&](search_state& state) {
    state.waiting = now->how ? now->how->waiting : 0;
    state.is_complete = is_complete;
    state.problem = is_unread ? std::string(unread) : now->how ? now->how->problem : std::string();
  });
  {
    const std::lock_guard lock(mutex_);
    // What the other says is complete is as complete as it gets here.
    begun_looks_ = asked_looks_ = std::max(asked_looks_, begun_looks_ + 1);
    if (is_complete) complete_looks_ = begun_looks_;
    if (has_looked) ended_looks_ = begun_looks_;
    changed_uris_.clear();
  }
  step();
}

}  // namespace hondana::search
