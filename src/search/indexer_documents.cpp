/// What the thread that indexes does with resources: read, put into the store, watched, forgotten.
#include <algorithm>
#include <utility>

#include "search/indexer.hpp"

namespace hondana::search {
namespace {

using clock = std::chrono::steady_clock;

/// A commit costs about as much as indexing some documents; whoever searches waits for it in memory alone.
constexpr std::chrono::milliseconds between_commits{300};
constexpr std::chrono::seconds between_reports{10};
constexpr std::chrono::seconds between_counts{2};

}  // namespace

void indexer::index_pending(const std::stop_token& stop) {
  const auto begin = clock::now();
  auto next_report = begin + between_reports;
  auto next_commit = begin + between_commits;
  const auto all = pending_.size();
  std::size_t done = 0;
  std::unordered_map<std::string, resource> later;
  while (!pending_.empty() && !stop.stop_requested()) {
    auto node = pending_.extract(pending_.begin());
    const auto outcome = index_one(node.mapped(), stop);
    if (!outcome) {
      // The store: what was not committed is read again with the next look.
      roll_back();
      known_.clear();
      pending_.clear();
      gone_.clear();
      new_digests_.clear();
      is_look_whole_ = false;
      problem(outcome.error().public_text);
      if (auto loaded = load(); !loaded) problem(loaded.error().public_text);
      next_look_ = clock::now() + after_failure;
      return;
    }
    if (*outcome == indexer::outcome::later) later.insert(std::move(node));
    ++done;
    const auto now = clock::now();
    if (is_in_memory() || now >= next_commit || pending_.empty()) {
      next_commit = now + between_commits;
      if (auto committed = commit(); !committed) {
        problem(committed.error().public_text);
        is_look_whole_ = false;
        if (auto loaded = load(); !loaded) problem(loaded.error().public_text);
        next_look_ = clock::now() + after_failure;
        pending_.clear();
        return;
      }
      tell_state(now >= next_count_);
    }
    if (now >= next_report) {
      next_report = now + between_reports;
      on_->say(std::to_string(done) + " of " + std::to_string(all) + " resources indexed");
    }
  }
  if (!later.empty()) {
    is_look_whole_ = false;
    next_look_ = std::min(next_look_, clock::now() + after_failure);
  }
  if (all >= 100) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin).count();
    on_->say(std::to_string(done) + " resources indexed in " + std::to_string(took) + " ms");
  }
  tell_state(true);
}

result<indexer::outcome> indexer::index_one(const resource& entry, const std::stop_token& stop) {
  const auto in = on_->where()->now();
  const auto by = own_call(stop);
  const auto found = known_.find(entry.uri);
  const auto known_version = found == known_.end() ? std::string() : found->second.version;
  auto cut_up = cut(by, in, entry, known_version, on_->options.largest);
  if (!cut_up) {
    if (cut_up.error().code == errc::resource_not_found) {
      if (auto done = forget(entry.uri); !done) return tl::unexpected(std::move(done.error()));
      return outcome::gone;
    }
    problem("cannot read " + entry.uri + ": " + cut_up.error().public_text);
    if (found != known_.end()) found->second.seen = look_;
    return outcome::later;
  }
  const auto listed = digest_of(document_of(entry));
  if (cut_up->is_unchanged) {
    auto what = document_of(entry);
    what.version = known_version;
    if (auto done = on_->kept->describe(what); !done) return tl::unexpected(std::move(done.error()));
    found->second.described = listed;
    found->second.seen = look_;
    return outcome::same;
  }
  auto gone = on_->kept->put(cut_up->what, cut_up->passages);
  if (!gone) return tl::unexpected(std::move(gone.error()));
  gone_.insert(gone_.end(), gone->begin(), gone->end());
  if (on_->embedder) {
    for (const auto& one : cut_up->passages)
      new_digests_.push_back(digest_of_text(text_to_embed(cut_up->what, one.heading, one.text)));
    has_more_vectors_ = true;
  }
  auto& known = known_[entry.uri];
  known.version = cut_up->what.version;
  known.described = listed;
  known.seen = look_;
  watch(entry.uri, known);
  return outcome::indexed;
}

result<void> indexer::forget(const std::string& uri) {
  pending_.erase(uri);
  auto gone = on_->kept->remove(uri);
  if (!gone) return tl::unexpected(std::move(gone.error()));
  gone_.insert(gone_.end(), gone->begin(), gone->end());
  if (const auto found = known_.find(uri); found != known_.end()) {
    if (found->second.is_watched) {
      unwatch(uri);
    }
    known_.erase(found);
  }
  return commit();
}

result<void> indexer::note_progress() {
  progress how;
  how.waiting = pending_.size();
  how.is_complete = pending_.empty() && is_look_whole_ && look_ > 0;
  how.problem = said_;
  auto now = spelled(how);
  if (now == noted_ || is_in_memory()) return {};
  how.at = milliseconds(std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  if (auto noted = on_->kept->note(how); !noted) return noted;
  noted_ = std::move(now);
  return {};
}

void indexer::roll_back() noexcept {
  on_->kept->roll_back();
  noted_.clear();
}

result<void> indexer::commit() {
  auto done = note_progress();
  if (done) done = on_->kept->commit();
  if (!done) {
    roll_back();
    return done;
  }
  if (const auto near = on_->neighbours()) {
    for (const auto& one : gone_) near->remove(one.number);
  }
  gone_.clear();
  take_vectors(std::exchange(new_digests_, {}));
  return {};
}

void indexer::tell_state(bool is_counted) {
  const auto waiting = pending_.size();
  store_counts counts;
  if (is_counted) {
    next_count_ = clock::now() + between_counts;
    auto counted = on_->kept->counts();
    if (!counted) return problem(counted.error().public_text);
    counts = *counted;
  }
  on_->change_state([&](search_state& state) {
    state.waiting = waiting;
    state.is_complete = waiting == 0 && is_look_whole_ && look_ > 0;
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
  const std::lock_guard lock(mutex_);
  ++steps_;
  changed_.notify_all();
}

}  // namespace hondana::search
