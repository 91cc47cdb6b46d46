/// What the thread that indexes commits, and tells of how far it is.
#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "search/index/indexer.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds between_counts{2};

}  // namespace

result<void> indexer::note_progress() {
  progress how;
  how.waiting = pending_.size();
  how.is_complete = pending_.empty() && is_look_whole_ && look_ > 0 && left_out_.empty();
  how.has_looked = on_->has_looked;
  how.problem = troubles_.words();
  auto now = spelled(how);
  if (now == noted_ || is_in_memory()) return {};
  how.at = milliseconds(std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  HONDANA_TRY(on_->kept->note(how));
  noted_ = std::move(now);
  return {};
}

result<void> indexer::commit() {
  if (has_to_load_) return {};
  auto done = note_progress();
  if (done) done = on_->kept->commit();
  if (!done) return done;
  troubles_.end(trouble::store);
  if (const auto near = on_->neighbours()) {
    for (const auto& one : gone_) near->remove(one.number);
  }
  gone_.clear();
  take_vectors(std::exchange(new_digests_, {}));
  return {};
}

void indexer::tell_missing() {
  auto all = unlisted_;
  const auto add = [&all](const std::string& uri) {
    if (all.size() < ground::most_missing) all.push_back(uri);
  };
  std::for_each(unread_.begin(), unread_.end(), add);
  for (const auto& [uri, one] : left_out_) add(uri);
  on_->put_missing(std::move(all));
}

void indexer::tell_state(bool is_counted) {
  const auto waiting = pending_.size();
  store_counts counts;
  if (is_counted) {
    next_count_ = clock::now() + between_counts;
    auto counted = on_->kept->counts();
    if (!counted) return troubles_.have(trouble::store, counted.error());
    counts = *counted;
  }
  on_->change_state([&](search_state& state) {
    state.waiting = waiting;
    state.is_complete = waiting == 0 && is_look_whole_ && look_ > 0 && left_out_.empty();
    if (!is_counted) return;
    state.resources = counts.documents;
    state.passages = counts.passages;
    state.vectors = counts.vectors;
    state.without_text = counts.without_text;
    state.bytes = counts.bytes;
  });
  if (on_->embedder) {
    auto words = on_->embedder->description();
    on_->change_state([&](search_state& state) { state.vectors_from = std::move(words); });
  }
  step();
}

void indexer::step() {
  const std::lock_guard lock(mutex_);
  ++steps_;
  changed_.notify_all();
}

}  // namespace hondana::search
