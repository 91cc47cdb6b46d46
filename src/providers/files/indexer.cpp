/// The two background passes.
#include "providers/files/indexer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "disk/stamp.hpp"
#include "model/still_wanted.hpp"
#include "providers/files/entry.hpp"
#include "providers/files/gatherer.hpp"
#include "providers/files/mending.hpp"

namespace hondana::files {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t small_walk = 5'000;
constexpr std::size_t trouble_limit = 200;               // different lines of trouble the log is told
constexpr std::size_t description_limit = 256ull << 20;  // bytes of all descriptions together
constexpr std::chrono::milliseconds fresh_wait{50};
constexpr std::chrono::milliseconds description_wait{30};
constexpr std::chrono::seconds farewell{1};
constexpr std::chrono::seconds retry_pause{1};
// A walk that took long is not repeated at once: nine tenths of the time nothing is walked.
constexpr int rest_factor = 9;

// Beyond so many changes everything is walked again.
constexpr std::size_t most_mended = 4'096;

std::string seconds_text(clock::duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

struct indexer::state {
  state(root_list served, const options& all, indexer::ears to)
      : roots(std::move(served)), configured(all), ears(std::move(to)) {}

  const root_list roots;
  const options configured;
  const indexer::ears ears;

  mutable std::mutex mutex;
  std::condition_variable_any changed;  // anything below
  std::shared_ptr<listing> growing;     // of the walk under way
  std::shared_ptr<listing> latest;      // whole
  std::shared_ptr<listing> previous;    // what the second pass may copy from; no older than the one before `latest`
  std::deque<std::shared_ptr<block>> urgent;
  std::size_t next_to_describe = 0;  // in `growing`, or `latest` when nothing grows
  std::size_t described_bytes = 0;
  std::size_t walks = 0;  // finished
  clock::time_point last_end;
  clock::duration last_duration{0};
  bool wanted = false;
  std::optional<std::int64_t> told_since;  // by `wall_clock`; absent: nobody was told before the first walk
  std::vector<stretch> to_mend;            // in `latest`, in no order
  bool mends = false;                      // what is to be mended is wanted now
  bool has_failed = false;                 // the last walk
  bool is_started = false;
  int running = 0;
  std::stop_source stop;
  std::set<std::string> told;
  std::mutex log_mutex;
  bool is_silent = false;  // set when the log may be gone

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (configured.log && !is_silent) configured.log(line);
  }
  /// What a pass ended with. A log that fails here is not told anything more.
  void say_failure(const char* pass, const std::exception& why) noexcept {
    char line[256];
    std::snprintf(line, sizeof line, "%s failed: %.180s", pass, why.what());
    const std::lock_guard lock(log_mutex);
    try {
      if (configured.log && !is_silent) configured.log(line);
    } catch (const std::exception&) {
      is_silent = true;
    }
  }
  void say_once(const std::string& line) {
    {
      const std::lock_guard lock(mutex);
      if (told.size() >= trouble_limit || !told.insert(line).second) return;
    }
    say(line);
  }

  void start(const std::shared_ptr<state>& self);
  void run_walks();
  void walk_once(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] disk::stamp walk_all(listing& into);
  void mend_once(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] gatherer::ears ears_of_walk();
  void run_descriptions();
  void describe_next(std::unique_lock<std::mutex>& lock);
  void skip(const block& what);
  bool has_work() const;
  std::shared_ptr<block> next_block();
};

void indexer::state::start(const std::shared_ptr<state>& self) {
  if (is_started) return;
  const auto launch = [&self](void (state::*pass)()) {
    ++self->running;
    try {
      std::thread([self, pass] {
        (self.get()->*pass)();
        const std::lock_guard lock(self->mutex);
        --self->running;
        self->changed.notify_all();
      }).detach();
    } catch (...) {
      --self->running;
      throw;
    }
  };
  launch(&state::run_walks);
  is_started = true;
  wanted = true;
  launch(&state::run_descriptions);
}

void indexer::state::run_walks() {
  const auto token = stop.get_token();
  std::unique_lock lock(mutex);
  while (changed.wait(lock, token, [this] { return wanted || mends; })) {
    const bool is_whole_walk = std::exchange(wanted, false) || !latest;
    mends = false;
    has_failed = false;
    try {
      if (is_whole_walk) {
        walk_once(lock);
      } else {
        mend_once(lock);
      }
    } catch (const std::exception& error) {
      if (lock.owns_lock()) lock.unlock();
      say_failure("indexing", error);
      lock.lock();
      has_failed = true;
      if (growing) growing->abandon();
      growing.reset();
      next_to_describe = 0;
      if (!is_whole_walk) {
        // What was to be mended is not known any more: everything is walked, after a rest.
        changed.wait_for(lock, token, retry_pause, [] { return false; });
        wanted = true;
      }
    }
    last_end = clock::now();
    changed.notify_all();
  }
}

/// Walks and replaces the latest listing. Called with the lock held; throws with it held or not, and then nothing is replaced.
void indexer::state::walk_once(std::unique_lock<std::mutex>& lock) {
  auto fresh = std::make_shared<listing>();
  to_mend.clear();  // whatever changes from here on is told anew
  growing = fresh;
  previous = latest;
  next_to_describe = 0;
  described_bytes = 0;
  changed.notify_all();
  const bool is_first = walks == 0;
  const auto begin = clock::now();
  lock.unlock();
  const auto newest_folder = walk_all(*fresh);
  fresh->finish();
  const auto took = clock::now() - begin;
  if (is_first || took > std::chrono::seconds(5)) {
    say("indexed " + std::to_string(fresh->size()) + " entries in " + seconds_text(took));
  }
  lock.lock();
  if (stop.stop_requested()) return;
  const auto before = std::exchange(latest, std::move(fresh));
  growing.reset();
  ++walks;
  last_duration = took;
  // The first walk has nothing to compare with; but folders that have not changed have the names they had. What changed in one
  // after it was left is told anyway.
  const bool may_have_missed = !before && told_since && is_racy(newest_folder, *told_since);
  if ((!before && !may_have_missed) || !ears.names_changed) return;
  const auto now = latest;
  changed.notify_all();
  lock.unlock();
  if (may_have_missed || !before->has_same_names(*now)) ears.names_changed();
  lock.lock();
}

/// Walks again what has changed, and puts it into the latest listing. Locks as `walk_once`.
void indexer::state::mend_once(std::unique_lock<std::mutex>& lock) {
  auto stretches = std::exchange(to_mend, {});
  const auto before = latest;
  lock.unlock();
  reduce(stretches);
  if (stretches.empty()) return lock.lock();
  for (auto& one : stretches) walk_again(one, configured, stop.get_token(), ears_of_walk());
  auto mended = before->with(stretches);
  const bool has_others = !before->has_same_names(*mended);
  lock.lock();
  if (stop.stop_requested()) return;
  previous = before;
  latest = std::move(mended);
  next_to_describe = 0;
  ++walks;
  if (!has_others || !ears.names_changed) return;
  changed.notify_all();
  lock.unlock();
  ears.names_changed();
  lock.lock();
}

gatherer::ears indexer::state::ears_of_walk() {
  return {[this] {
            const std::lock_guard lock(mutex);
            changed.notify_all();
          },
          [this, is_first = walks == 0](const std::string& line) {
            if (is_first) say(line);
          },
          [this](const std::string& line) { say_once(line); }, ears.entering};
}

/// The folder that had changed last.
disk::stamp indexer::state::walk_all(listing& into) {
  gatherer gathering(into, configured, stop.get_token(), ears_of_walk());
  for (const auto& one : roots) {
    if (!gathering.gather(one)) break;
  }
  return gathering.newest_folder();
}

/// The next block without descriptions; null when there is none for now. Called with the lock held.
std::shared_ptr<block> indexer::state::next_block() {
  while (!urgent.empty()) {
    auto next = std::move(urgent.front());
    urgent.pop_front();
    if (next->descriptions() == nullptr) return next;
  }
  const auto& from = growing ? growing : latest;
  if (!from) return nullptr;
  for (; auto next = from->block_at(next_to_describe); ++next_to_describe) {
    if (next->descriptions() == nullptr) return next;
  }
  if (from == latest) previous.reset();
  return nullptr;
}

/// Whether the second pass has something to do, be it only to let go of the listing before the latest.
bool indexer::state::has_work() const {
  const auto& from = growing ? growing : latest;
  return !urgent.empty() || (from && from->block_at(next_to_describe)) || (previous && !growing);
}

void indexer::state::run_descriptions() {
  const auto token = stop.get_token();
  std::unique_lock lock(mutex);
  while (!token.stop_requested()) {
    try {
      describe_next(lock);
    } catch (const std::exception& error) {
      if (lock.owns_lock()) lock.unlock();
      say_failure("describing files", error);
      lock.lock();
    }
  }
}

/// Describes one block, or waits for one. Called with the lock held; throws with it held or not.
void indexer::state::describe_next(std::unique_lock<std::mutex>& lock) {
  const auto next = next_block();
  if (!next) {
    changed.wait(lock, stop.get_token(), [this] { return has_work(); });
    return;
  }
  skip(*next);  // not tried again by itself, should it fail
  const auto copy_from = previous;
  const bool has_room = described_bytes < description_limit;
  lock.unlock();
  std::unique_ptr<const block_descriptions> made;
  if (has_room) {
    made = describe_block(*next, copy_from.get());
  } else {
    say_once("there are too many files to keep titles and descriptions of all");
    auto empty = std::make_unique<block_descriptions>();
    for (std::size_t i = 0; i < next->size(); ++i) empty->add({}, {});
    made = std::move(empty);
  }
  const auto bytes = made->bytes();
  next->describe(std::move(made));
  lock.lock();
  described_bytes += bytes;
  changed.notify_all();
}

/// Passes over a block where it is the next in order.
void indexer::state::skip(const block& what) {
  const auto& from = growing ? growing : latest;
  if (from && from->block_at(next_to_describe).get() == &what) ++next_to_describe;
}

indexer::indexer(root_list roots, const options& all, ears to)
    : state_(std::make_shared<state>(std::move(roots), all, std::move(to))) {}

indexer::~indexer() {
  state_->stop.request_stop();
  bool all_left = false;
  {
    std::unique_lock lock(state_->mutex);
    all_left = state_->changed.wait_for(lock, farewell, [this] { return state_->running == 0; });
  }
  if (all_left) return;
  const std::lock_guard lock(state_->log_mutex);
  state_->is_silent = true;
}

result<std::shared_ptr<const listing>> indexer::current(const call& by) {
  if (auto wanted = still_wanted(by); !wanted) return tl::unexpected(std::move(wanted.error()));
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  try {
    s.start(state_);
  } catch (const std::system_error& error) {
    return fail(errc::overloaded, "The folder cannot be indexed: no thread can be started. Ask again later.", error.what());
  }
  const auto pause = std::max<clock::duration>(s.configured.refresh_after, s.last_duration * rest_factor);
  // A listing that is told of every change is never too old, but after a failure.
  const bool is_watched = s.ears.is_watched && s.ears.is_watched() && !s.has_failed;
  const bool is_due = !is_watched && !s.wanted && !s.growing && clock::now() - s.last_end > pause;
  if (!s.latest) {
    if (s.has_failed && is_due) {
      s.wanted = true;
      s.changed.notify_all();
    }
    const auto failed = [&s] { return s.has_failed && !s.wanted && !s.growing; };
    s.changed.wait_until(lock, by.stop, by.deadline, [&s, failed] { return s.growing || s.latest || failed(); });
    if (s.latest) return s.latest;
    if (s.growing) return s.growing;
    if (failed()) {
      return fail(errc::source_unavailable, "The files could not be listed, since their walk failed. Ask again later.");
    }
    if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    return fail(errc::timed_out, "The folder was not listed before the deadline. Ask again later.");
  }
  if (is_due) {
    s.wanted = true;
    s.changed.notify_all();
  }
  if (!s.to_mend.empty()) {
    s.mends = true;
    s.changed.notify_all();
  }
  const bool is_quick = s.latest->size() < small_walk || (s.mends && !s.wanted && !s.growing);
  if ((s.wanted || s.growing || s.mends) && is_quick) {
    const auto walks = s.walks;
    const auto until = std::min(by.deadline, clock::now() + fresh_wait);
    s.changed.wait_until(lock, by.stop, until, [&s, walks] { return !s.wanted && !s.growing && !s.mends && s.walks != walks; });
  }
  return s.latest;
}

void indexer::begin() {
  const std::lock_guard lock(state_->mutex);
  try {
    state_->start(state_);
  } catch (const std::system_error& error) {
    state_->say_failure("starting to index", error);  // the next list tries again
  }
}

void indexer::begin_to_tell() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->told_since) state_->told_since = disk::wall_clock();
  }
  begin();
}

void indexer::changed(const std::shared_ptr<const root>& of, const std::string& path, bool may_be_names) {
  auto& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.is_started || (!s.latest && !s.growing)) return;  // the first walk finds it
    if (s.to_mend.size() >= most_mended) {
      s.wanted = true;
    } else {
      s.to_mend.push_back({of, path, false, {}});
      if (may_be_names && !path.empty()) {
        const auto slash = path.rfind('/');
        s.to_mend.push_back({of, slash == std::string::npos ? std::string() : path.substr(0, slash), true, {}});
      }
    }
    if (!may_be_names && !s.wanted) return;
    s.mends = true;
  }
  s.changed.notify_all();
}

std::string indexer::title_of(std::string_view uri) const {
  std::shared_ptr<const listing> in;
  {
    const std::lock_guard lock(state_->mutex);
    in = state_->latest;
  }
  const auto at = in ? in->find(uri) : std::nullopt;
  const auto* about = at ? at->in->descriptions() : nullptr;
  return about == nullptr ? std::string() : about->at(at->index).title;
}

void indexer::refresh() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->is_started) return;  // the first list walks anyway
  state_->wanted = true;
  state_->changed.notify_all();
}

void indexer::await_descriptions(const std::vector<place>& places, const call& by) {
  const auto is_described = [&places] {
    return std::all_of(places.begin(), places.end(), [](const place& one) { return one.in->descriptions() != nullptr; });
  };
  auto& s = *state_;
  if (is_described()) return;
  std::unique_lock lock(s.mutex);
  const block* last = nullptr;
  for (const auto& one : places) {
    if (one.in.get() == last || one.in->descriptions() != nullptr) continue;
    last = one.in.get();
    constexpr std::size_t urgent_limit = 64;
    if (s.urgent.size() < urgent_limit) s.urgent.push_back(one.in);
  }
  s.changed.notify_all();
  s.changed.wait_until(lock, by.stop, std::min(by.deadline, clock::now() + description_wait), is_described);
}

health indexer::state_of_health() const {
  auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.latest) return {true, std::to_string(s.latest->size()) + " entries, indexed in " + seconds_text(s.last_duration)};
  if (s.has_failed) return {false, "the last walk failed; the log says why"};
  if (s.growing) return {true, "indexing, " + std::to_string(s.growing->size()) + " entries so far"};
  return {true, "not indexed yet"};
}

}  // namespace hondana::files
