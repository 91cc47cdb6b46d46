/// The indexer's thread: schedule, write access, and progress.
#include "search/index/indexer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/backoff.hpp"
#include "base/executor/thread_guards.hpp"
#include "protocol/model/caller_checks.hpp"
#include "search/index/shared_index.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::hours cleanup_interval{1};
/// Between attempts to use a store that fails.
constexpr executor::backoff store_pauses{std::chrono::seconds(5), std::chrono::minutes(1)};
constexpr std::chrono::seconds call_timeout{60};
/// Waiting callers get a progress report at least this often.
constexpr std::chrono::seconds progress_interval{1};
/// Pause after a scan, at most this long and as long as the scan took. So clients or sources that request scans all the time
/// occupy at most half of the time.
constexpr std::chrono::seconds max_scan_delay{10};
/// Limit of watches for single resources. The change feed allows one listener about twice as many.
constexpr std::size_t max_watches = 8'000;

}  // namespace

/// Receives changes for the indexer. May outlive it, if a change arrives during destruction.
class indexer::change_listener final : public catalog::listener {
 public:
  explicit change_listener(indexer& owner) : owner_(&owner) {}
  void on_change(const model::change& change) override {
    const std::lock_guard lock(mutex_);
    if (owner_ == nullptr) return;
    if (change.kind == model::change::change_kind::resources) static_cast<void>(owner_->request_scan());
    if (change.kind == model::change::change_kind::content) owner_->note_change(change.uri);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    owner_ = nullptr;
  }

 private:
  std::mutex mutex_;
  indexer* owner_;
};

indexer::indexer(std::shared_ptr<shared_index> index) : index_(std::move(index)), problems_(index_) {}

indexer::~indexer() { stop(); }

void indexer::start(std::shared_ptr<catalog::change_feed> changes) {
  feed_ = std::move(changes);
  started_at_ = clock::now();
  listener_ = std::make_shared<change_listener>(*this);
  feed_->add_listener(listener_);
  const executor::signal_blocker blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void indexer::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  if (listener_) {
    listener_->close();
    feed_->remove_listener(*listener_);
  }
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  listener_.reset();
}

void indexer::watch(const std::string& uri, known_entry& known) {
  if (known.is_watched || watch_count_ >= max_watches || !listener_) return;
  if (!feed_->watch(listener_, uri)) return;
  known.is_watched = true;
  ++watch_count_;
}

void indexer::unwatch(const std::string& uri) {
  feed_->unwatch(*listener_, uri);
  --watch_count_;
}

std::uint64_t indexer::request_scan() {
  const std::lock_guard lock(mutex_);
  // A scan in progress may have read a list before it changed.
  requested_scans_ = started_scans_ + 1;
  changed_.notify_all();
  return requested_scans_;
}

void indexer::note_change(std::string_view uri) {
  const auto resource = catalog::resource_of(uri);
  if (!is_included(resource)) return;
  const std::lock_guard lock(mutex_);
  changed_uris_.insert(resource);
  changed_.notify_all();
}

result<void> indexer::wait_for_scan(std::uint64_t number, scan_end end, clock::time_point deadline, const std::stop_token& stop,
                                    const std::function<void()>& on_progress) const {
  std::unique_lock lock(mutex_);
  const auto& scans = end == scan_end::complete ? completed_scans_ : finished_scans_;
  for (;;) {
    const auto previous = progress_count_;
    if (on_progress) {
      lock.unlock();
      on_progress();
      lock.lock();
    }
    if (scans >= number) return {};
    if (is_stopped_) return fail(errc::source_unavailable, "search: the server is stopping and does not index any more");
    if (stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (clock::now() >= deadline) return fail(errc::timed_out, "search: not everything was indexed before the timeout; retry");
    monotonic_clock::wait_until(changed_, lock, stop, std::min(deadline, clock::now() + progress_interval),
                                [&] { return progress_count_ != previous || scans >= number || is_stopped_; });
  }
}

request_context indexer::make_context(const std::stop_token& stop) const {
  request_context out;
  out.caller = model::index_caller();
  out.deadline = clock::now() + call_timeout;
  out.stop = stop;
  return out;
}

bool indexer::wait_for_work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto next_check = clock::now() + writer_check_interval;
  for (;;) {
    const bool is_requested = requested_scans_ > started_scans_;
    auto due_at = has_more_vectors_ ? std::min(next_scan_, next_vectors_) : next_scan_;
    if (is_requested) due_at = std::min(due_at, earliest_scan_);
    if (!changed_uris_.empty() || clock::now() >= due_at) return true;
    if (stop.stop_requested() || clock::now() >= next_check) return false;
    monotonic_clock::wait_until(changed_, lock, stop, std::min(due_at, next_check),
                                [&] { return !changed_uris_.empty() || (requested_scans_ > started_scans_) != is_requested; });
  }
}

bool indexer::has_work() const {
  const std::lock_guard lock(mutex_);
  return !changed_uris_.empty() || (requested_scans_ > started_scans_ && clock::now() >= earliest_scan_);
}

void indexer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (!acquire_write_access(stop)) continue;
      if (needs_load_) {
        if (const auto loaded = load(); !loaded) {
          restart(loaded.error());
          wait_after_failure(stop);
          continue;
        }
      }
      if (!wait_for_work(stop)) continue;
      if (stop.stop_requested()) break;
      run_round(begin_scan(), stop);
      problems_.resolve(problem_kind::defect);
    } catch (const std::exception& error) {
      restart();
      executor::run_noexcept([&] { problems_.report(problem_kind::defect, std::string("indexing failed: ") + error.what()); });
      wait_after_failure(stop);
    }
  }
  executor::run_noexcept([&] {
    if (const auto status = commit(); !status) problems_.report(problem_kind::store, status.error());
  });
}

bool indexer::begin_scan() {
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (now < next_scan_ && (requested_scans_ <= started_scans_ || now < earliest_scan_)) return false;
  started_scans_ = requested_scans_ = std::max(requested_scans_, started_scans_ + 1);
  return true;
}

void indexer::wait_after_failure(const std::stop_token& stop) { wait_for(retry_delay, stop); }

void indexer::wait_for(std::chrono::milliseconds delay, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_for(changed_, lock, stop, delay, [] { return false; });
}

void indexer::run_round(bool needs_scan, const std::stop_token& stop) {
  if (needs_scan) {
    const auto started = clock::now();
    scan(stop);
    earliest_scan_ = clock::now() + std::min<clock::duration>(clock::now() - started, max_scan_delay);
    if (store_failures_ > 1) earliest_scan_ = std::max(earliest_scan_, next_scan_);
  }
  if (process_changes(stop)) index_pending(stop);
  bool has_new_vectors = false;
  while (has_more_vectors_ && clock::now() >= next_vectors_ && !stop.stop_requested() && !needs_load_) {
    if (has_work() || !embed_batch(stop)) break;
    has_new_vectors = true;
  }
  check_dimension(stop);
  if (clock::now() >= next_cleanup_) {
    next_cleanup_ = clock::now() + cleanup_interval;
    // The embedding service may accept the rejected texts now.
    has_more_vectors_ = has_more_vectors_ || !rejected_.empty();
    rejected_.clear();
    if (auto status = index_->storage->clean_up(); !status) restart(status.error());
  }
  if (has_new_vectors) publish_state(true);
  if (auto status = commit(); !status) restart(status.error());
}

result<void> indexer::load() {
  std::unordered_map<std::string, known_entry> known;
  auto status = index_->storage->for_each_document([&known](store::stored_document stored) {
    auto& entry = known[std::move(stored.uri)];
    entry.version = std::move(stored.version);
    entry.listed_digest = stored.listed_digest;
    entry.processing = std::move(stored.processing);
    entry.has_text = !stored.has_problem;
  });
  if (!status) return status;
  HONDANA_TRY(const auto counts, index_->storage->counts());
  HONDANA_TRY(index_->storage->use_model(index_->embedder ? index_->embedder->id() : std::string()));
  merge_known(std::move(known));
  passages_ = counts.passages;
  index_->uris.clear();
  if (index_->embedder) {
    HONDANA_TRY(const auto is_uniform, load_vectors());
    if (!is_uniform) {
      HONDANA_TRY(drop_vectors());
    }
  }
  has_more_vectors_ = index_->embedder != nullptr;
  next_cleanup_ = clock::now() + cleanup_interval;
  needs_load_ = false;
  publish_state(true);
  return {};
}

void indexer::merge_known(std::unordered_map<std::string, known_entry> known) {
  for (auto& [uri, entry] : known) {
    const auto previous = known_.find(uri);
    entry.was_read = !entry.has_text && previous != known_.end() && previous->second.was_read && !previous->second.has_text;
    // A document without text may give one now, because the software may have changed since it was indexed. Try it once after
    // each start, without regard to its version.
    if (!entry.has_text && !entry.was_read && entry.version != listing_version) entry.version.clear();
  }
  // Keep the watches, even if the store has lost documents.
  for (const auto& [uri, previous] : known_) {
    if (!previous.is_watched) continue;
    const auto current = known.find(uri);
    if (current != known.end()) {
      current->second.is_watched = true;
    } else {
      unwatch(uri);
    }
  }
  known_ = std::move(known);
}

void indexer::restart(const failure& error) {
  problems_.report(problem_kind::store, error);
  restart();
  // Do not read everything again and again if the store keeps failing.
  next_scan_ = clock::now() + store_pauses.delay(++store_failures_);
}

void indexer::restart() noexcept {
  index_->storage->roll_back();
  stored_progress_.clear();
  pending_.clear();
  removed_.clear();
  new_digests_.clear();
  is_scan_complete_ = false;
  needs_load_ = true;
  next_scan_ = clock::now() + retry_delay;
  // The pending writes are lost, and the state of other resources is unknown until the next scan.
  index_->has_scanned = false;
  index_->change_state([](search_state& state) { state.is_complete = false; });
}

namespace {

using clock = monotonic_clock;

/// Reading all vectors again takes long if there are many.
constexpr std::chrono::seconds vector_reload_interval{10};
constexpr std::chrono::seconds foreign_count_interval{2};

}  // namespace

bool indexer::acquire_write_access(const std::stop_token& stop) {
  const auto access = index_->storage->acquire_write_access();
  if (!access) {
    problems_.report(problem_kind::store, access.error());
    wait_after_failure(stop);
    return false;
  }
  if (!access->is_granted) {
    if (std::exchange(generation_, std::nullopt)) {
      restart();
      // The process that writes the index does not report missing resources.
      index_->set_missing({});
    }
    follow_writer();
    wait_for(writer_check_interval, stop);
    return false;
  }
  if (generation_ == access->generation) return true;
  generation_ = access->generation;
  restart();
  // Numbers may refer to other passages now. Vectors are read again with everything else.
  index_->set_vectors(nullptr);
  next_scan_ = clock::now();
  index_->change_state([this](search_state& state) { state.problem = problems_.text(); });
  return true;
}

void indexer::follow_vectors(const index_status& status) {
  if (followed_commit_ && status.commits < *followed_commit_) {
    // The commit count decreased: this is another index than the one with the known vectors.
    index_->set_vectors(nullptr);
    followed_commit_.reset();
    next_vectors_ = clock::now();
  }
  const bool has_new_vectors = index_->embedder && status.model == index_->embedder->id() && followed_commit_ != status.commits;
  if (!has_new_vectors) return problems_.resolve(problem_kind::store);
  if (clock::now() < next_vectors_) return;
  next_vectors_ = clock::now() + vector_reload_interval;
  const auto is_uniform = load_vectors();
  // After an error, read again next time, even without new commits.
  if (!is_uniform) return problems_.report(problem_kind::store, is_uniform.error());
  followed_commit_ = status.commits;
  problems_.resolve(problem_kind::store);
  // Dimensions differ while the vectors of another model replace the old ones.
  if (!*is_uniform) index_->set_vectors(nullptr);
}

void indexer::follow_writer() {
  const auto status = index_->storage->status();
  if (!status) return problems_.report(problem_kind::store, status.error());
  // Counting takes long for a large index.
  if (counted_commit_ != status->commits && clock::now() >= next_count_) {
    const auto counts = index_->storage->counts();
    if (!counts) return problems_.report(problem_kind::store, counts.error());
    next_count_ = clock::now() + foreign_count_interval;
    counted_commit_ = status->commits;
    index_->change_state([&](search_state& state) {
      state.resources = counts->documents;
      state.passages = counts->passages;
      state.vectors = counts->vectors;
      state.without_text = counts->without_text;
      state.bytes = counts->bytes;
    });
  }
  follow_vectors(*status);
  const auto unreadable = problem_text(problem_kind::store);
  const bool is_unreadable = problems_.text() == unreadable;
  const bool is_complete = status->last_progress && status->last_progress->is_complete && !is_unreadable;
  const bool has_scanned = is_complete || (status->last_progress && status->last_progress->has_scanned);
  index_->has_scanned = has_scanned;
  index_->change_state([&](search_state& state) {
    state.pending = status->last_progress ? status->last_progress->waiting : 0;
    state.is_complete = is_complete;
    state.problem = is_unreadable           ? std::string(unreadable)
                    : status->last_progress ? status->last_progress->problem
                                            : std::string();
  });
  {
    const std::lock_guard lock(mutex_);
    // The state of the writing process is the best that this process can report.
    started_scans_ = requested_scans_ = std::max(requested_scans_, started_scans_ + 1);
    if (is_complete) completed_scans_ = started_scans_;
    if (has_scanned) finished_scans_ = started_scans_;
    changed_uris_.clear();
  }
  notify_progress();
}

namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds count_interval{2};

}  // namespace

result<void> indexer::store_progress() {
  progress current;
  current.waiting = pending_.size();
  current.is_complete = pending_.empty() && is_scan_complete_ && scan_number_ > 0 && omitted_.empty();
  current.has_scanned = index_->has_scanned;
  current.problem = problems_.text();
  auto text = encode(current);
  if (text == stored_progress_ || is_in_memory()) return {};
  current.updated_at = milliseconds(std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  HONDANA_TRY(index_->storage->put_progress(current));
  stored_progress_ = std::move(text);
  return {};
}

result<void> indexer::commit() {
  if (needs_load_) return {};
  auto status = store_progress();
  if (status) status = index_->storage->commit();
  if (!status) return status;
  problems_.resolve(problem_kind::store);
  if (const auto vectors = index_->vectors()) {
    for (const auto& id : removed_) vectors->remove(id.number);
  }
  removed_.clear();
  load_new_vectors(std::exchange(new_digests_, {}));
  return {};
}

void indexer::publish_missing() {
  auto uris = unlisted_;
  const auto add = [&uris](const std::string& uri) {
    if (uris.size() < shared_index::max_missing) uris.push_back(uri);
  };
  std::for_each(unread_.begin(), unread_.end(), add);
  for (const auto& [uri, entry] : omitted_) add(uri);
  index_->set_missing(std::move(uris));
}

void indexer::publish_state(bool is_counted) {
  const auto waiting = pending_.size();
  store_counts counts;
  if (is_counted) {
    next_count_ = clock::now() + count_interval;
    auto current = index_->storage->counts();
    if (!current) return problems_.report(problem_kind::store, current.error());
    counts = *current;
  }
  index_->change_state([&](search_state& state) {
    state.pending = waiting;
    state.is_complete = waiting == 0 && is_scan_complete_ && scan_number_ > 0 && omitted_.empty();
    if (!is_counted) return;
    state.resources = counts.documents;
    state.passages = counts.passages;
    state.vectors = counts.vectors;
    state.without_text = counts.without_text;
    state.bytes = counts.bytes;
  });
  if (index_->embedder) {
    auto description = index_->embedder->description();
    index_->change_state([&](search_state& state) { state.vector_source = std::move(description); });
  }
  notify_progress();
}

void indexer::notify_progress() {
  const std::lock_guard lock(mutex_);
  ++progress_count_;
  changed_.notify_all();
}

}  // namespace hondana::search
