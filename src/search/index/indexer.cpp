/// The indexer's thread: schedule, turns among processes, and progress.
#include "search/index/indexer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "protocol/model/caller_checks.hpp"
#include "search/index/index_state.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::hours between_tidyings{1};
constexpr std::chrono::seconds longest_call{60};
/// Waiting callers get a progress report at least this often.
constexpr std::chrono::seconds between_words{1};
/// Pause after a scan, at most this long and as long as the scan took. So clients or sources that request scans all the time
/// occupy at most half of the time.
constexpr std::chrono::seconds longest_rest{10};
/// Limit of watches for single resources. The change feed allows one listener about twice as many.
constexpr std::size_t most_watched = 8'000;

}  // namespace

/// Receives changes for the indexer. May outlive it, if a change arrives during destruction.
class indexer::ears final : public catalog::listener {
 public:
  explicit ears(indexer& of) : of_(&of) {}
  void heard(const model::change& what) override {
    const std::lock_guard lock(mutex_);
    if (of_ == nullptr) return;
    if (what.kind == model::change::what::resources) static_cast<void>(of_->ask_for_look());
    if (what.kind == model::change::what::content) of_->heard_of(what.uri);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    of_ = nullptr;
  }

 private:
  std::mutex mutex_;
  indexer* of_;
};

indexer::indexer(std::shared_ptr<ground> on) : on_(std::move(on)), troubles_(on_) {}

indexer::~indexer() { end(); }

void indexer::begin(std::shared_ptr<catalog::feed> changes) {
  feed_ = std::move(changes);
  began_ = clock::now();
  ears_ = std::make_shared<ears>(*this);
  feed_->join(ears_);
  const executor::signals_blocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void indexer::end() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  if (ears_) {
    ears_->close();
    feed_->leave(*ears_);
  }
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  ears_.reset();
}

void indexer::watch(const std::string& uri, entry_known& known) {
  if (known.is_watched || watched_ >= most_watched || !ears_) return;
  if (!feed_->watch(ears_, uri)) return;
  known.is_watched = true;
  ++watched_;
}

void indexer::unwatch(const std::string& uri) {
  feed_->unwatch(*ears_, uri);
  --watched_;
}

std::uint64_t indexer::ask_for_look() {
  const std::lock_guard lock(mutex_);
  // A scan in progress may have read a list before it changed.
  asked_looks_ = begun_looks_ + 1;
  changed_.notify_all();
  return asked_looks_;
}

void indexer::heard_of(std::string_view uri) {
  const auto resource = catalog::resource_of(uri);
  if (!is_wanted(resource)) return;
  const std::lock_guard lock(mutex_);
  changed_uris_.insert(resource);
  changed_.notify_all();
}

result<void> indexer::wait_for_look(std::uint64_t number, look_end which, clock::time_point until, const std::stop_token& stop,
                                    const std::function<void()>& hears) const {
  std::unique_lock lock(mutex_);
  const auto& looks = which == look_end::complete ? complete_looks_ : ended_looks_;
  for (;;) {
    const auto before = steps_;
    if (hears) {
      lock.unlock();
      hears();
      lock.lock();
    }
    if (looks >= number) return {};
    if (has_ended_) return fail(errc::source_unavailable, "search: the server is stopping and does not index any more");
    if (stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (clock::now() >= until) return fail(errc::timed_out, "search: not everything was indexed before the timeout; retry");
    monotonic_clock::wait_until(changed_, lock, stop, std::min(until, clock::now() + between_words),
                                [&] { return steps_ != before || looks >= number || has_ended_; });
  }
}

call indexer::own_call(const std::stop_token& stop) const {
  call out;
  out.who = model::index_caller();
  out.deadline = clock::now() + longest_call;
  out.stop = stop;
  return out;
}

bool indexer::wait_for_work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto turn = clock::now() + between_turns;
  for (;;) {
    const bool is_asked = asked_looks_ > begun_looks_;
    auto due = has_more_vectors_ ? std::min(next_look_, next_vectors_) : next_look_;
    if (is_asked) due = std::min(due, not_before_);
    if (!changed_uris_.empty() || clock::now() >= due) return true;
    if (stop.stop_requested() || clock::now() >= turn) return false;
    monotonic_clock::wait_until(changed_, lock, stop, std::min(due, turn),
                                [&] { return !changed_uris_.empty() || (asked_looks_ > begun_looks_) != is_asked; });
  }
}

bool indexer::has_something_to_look_at() const {
  const std::lock_guard lock(mutex_);
  return !changed_uris_.empty() || (asked_looks_ > begun_looks_ && clock::now() >= not_before_);
}

void indexer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (!take_turn(stop)) continue;
      if (has_to_load_) {
        if (const auto loaded = load(); !loaded) {
          begin_anew(loaded.error());
          wait_after_failure(stop);
          continue;
        }
      }
      if (!wait_for_work(stop)) continue;
      if (stop.stop_requested()) break;
      work(begins_look(), stop);
      troubles_.end(trouble::defect);
    } catch (const std::exception& error) {
      begin_anew();
      executor::without_throwing([&] { troubles_.have(trouble::defect, std::string("indexing failed: ") + error.what()); });
      wait_after_failure(stop);
    }
  }
  executor::without_throwing([&] {
    if (const auto done = commit(); !done) troubles_.have(trouble::store, done.error());
  });
}

bool indexer::begins_look() {
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (now < next_look_ && (asked_looks_ <= begun_looks_ || now < not_before_)) return false;
  begun_looks_ = asked_looks_ = std::max(asked_looks_, begun_looks_ + 1);
  return true;
}

void indexer::wait_after_failure(const std::stop_token& stop) { wait_for(after_failure, stop); }

void indexer::wait_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_for(changed_, lock, stop, time, [] { return false; });
}

void indexer::work(bool has_to_look, const std::stop_token& stop) {
  if (has_to_look) {
    const auto begun = clock::now();
    look(stop);
    not_before_ = clock::now() + std::min<clock::duration>(clock::now() - begun, longest_rest);
    if (store_failures_ > 1) not_before_ = std::max(not_before_, next_look_);
  }
  if (take_changed(stop)) index_pending(stop);
  bool are_vectors_new = false;
  while (has_more_vectors_ && clock::now() >= next_vectors_ && !stop.stop_requested() && !has_to_load_) {
    if (has_something_to_look_at() || !make_vectors(stop)) break;
    are_vectors_new = true;
  }
  check_vectors(stop);
  if (clock::now() >= next_tidying_) {
    next_tidying_ = clock::now() + between_tidyings;
    // The embedding service may accept the rejected texts now.
    has_more_vectors_ = has_more_vectors_ || !refused_.empty();
    refused_.clear();
    if (auto done = on_->kept->tidy(); !done) begin_anew(done.error());
  }
  if (are_vectors_new) tell_state(true);
  if (auto done = commit(); !done) begin_anew(done.error());
}

result<void> indexer::load() {
  std::unordered_map<std::string, entry_known> known;
  auto done = on_->kept->each_document([&known](store::known one) {
    auto& there = known[std::move(one.uri)];
    there.version = std::move(one.version);
    there.described = one.described;
    there.made = std::move(one.made);
    there.has_text = !one.has_problem;
  });
  if (!done) return done;
  HONDANA_TRY(const auto counts, on_->kept->counts());
  HONDANA_TRY(on_->kept->use_model(on_->embedder ? on_->embedder->id() : std::string()));
  take_known(std::move(known));
  passages_ = counts.passages;
  on_->uris.forget();
  if (on_->embedder) {
    HONDANA_TRY(const auto are_alike, read_vectors());
    if (!are_alike) {
      HONDANA_TRY(drop_vectors());
    }
  }
  has_more_vectors_ = on_->embedder != nullptr;
  next_tidying_ = clock::now() + between_tidyings;
  has_to_load_ = false;
  tell_state(true);
  return {};
}

void indexer::take_known(std::unordered_map<std::string, entry_known> known) {
  for (auto& [uri, one] : known) {
    const auto before = known_.find(uri);
    one.is_tried = !one.has_text && before != known_.end() && before->second.is_tried && !before->second.has_text;
    // A document without text may give one now, because the software may have changed since it was indexed. Try it once after
    // each start, without regard to its version.
    if (!one.has_text && !one.is_tried && one.version != version_of_lists) one.version.clear();
  }
  // Keep the watches, even if the store has lost documents.
  for (const auto& [uri, before] : known_) {
    if (!before.is_watched) continue;
    const auto still = known.find(uri);
    if (still != known.end()) {
      still->second.is_watched = true;
    } else {
      unwatch(uri);
    }
  }
  known_ = std::move(known);
}

void indexer::begin_anew(const failure& why) {
  troubles_.have(trouble::store, why);
  begin_anew();
  // Do not read everything again and again if the store keeps failing.
  next_look_ = clock::now() + pause_after(++store_failures_);
}

void indexer::begin_anew() noexcept {
  on_->kept->roll_back();
  noted_.clear();
  pending_.clear();
  gone_.clear();
  new_digests_.clear();
  is_look_whole_ = false;
  has_to_load_ = true;
  next_look_ = clock::now() + after_failure;
  // The pending writes are lost, and the state of other resources is unknown until the next scan.
  on_->has_looked = false;
  on_->change_state([](search_state& state) { state.is_complete = false; });
}

namespace {

using clock = monotonic_clock;

/// Reading all vectors again takes long if there are many.
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
      // The process that writes the index does not report missing resources.
      on_->put_missing({});
    }
    follow();
    wait_for(between_turns, stop);
    return false;
  }
  if (life_ == given->life) return true;
  life_ = given->life;
  begin_anew();
  // Numbers may refer to other passages now. Vectors are read again with everything else.
  on_->put_neighbours(nullptr);
  next_look_ = clock::now();
  on_->change_state([this](search_state& state) { state.problem = troubles_.words(); });
  return true;
}

void indexer::follow_vectors(const index_standing& now) {
  if (followed_ && now.commits < *followed_) {
    // The commit count decreased: this is another index than the one with the known vectors.
    on_->put_neighbours(nullptr);
    followed_.reset();
    next_vectors_ = clock::now();
  }
  const bool has_others = on_->embedder && now.model == on_->embedder->id() && followed_ != now.commits;
  if (!has_others) return troubles_.end(trouble::store);
  if (clock::now() < next_vectors_) return;
  next_vectors_ = clock::now() + between_readings_of_vectors;
  const auto are_alike = read_vectors();
  // After an error, read again next time, even without new commits.
  if (!are_alike) return troubles_.have(trouble::store, are_alike.error());
  followed_ = now.commits;
  troubles_.end(trouble::store);
  // Dimensions differ while the vectors of another model replace the old ones.
  if (!*are_alike) on_->put_neighbours(nullptr);
}

void indexer::follow() {
  const auto now = on_->kept->stands();
  if (!now) return troubles_.have(trouble::store, now.error());
  // Counting takes long for a large index.
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
    // The state of the writing process is the best that this process can report.
    begun_looks_ = asked_looks_ = std::max(asked_looks_, begun_looks_ + 1);
    if (is_complete) complete_looks_ = begun_looks_;
    if (has_looked) ended_looks_ = begun_looks_;
    changed_uris_.clear();
  }
  step();
}

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
