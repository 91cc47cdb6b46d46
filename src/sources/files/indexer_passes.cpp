/// The two background passes of the indexer: one walks the roots, the other describes the files that were found.
#include "sources/files/indexer_passes.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/files/resource_entry.hpp"

namespace hondana::files {

void reduce(std::vector<stretch>& all) {
  std::vector<std::pair<std::string, stretch>> sorted;
  sorted.reserve(all.size());
  for (auto& one : all) sorted.emplace_back(one.of->uri_of(one.path), std::move(one));
  // Of equal paths, the one that includes everything below it comes first.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const auto order = compare_by_segment(a.first, b.first);
    return std::is_lt(order) || (std::is_eq(order) && !a.second.is_alone && b.second.is_alone);
  });
  all.clear();
  std::string whole;  // URI of the last one that includes everything below it
  std::string last;
  for (auto& [uri, one] : sorted) {
    if (!all.empty() && (uri == last || (!whole.empty() && covers(whole, uri)))) continue;
    if (!one.is_alone) whole = uri;
    last = uri;
    all.push_back(std::move(one));
  }
}

bool walk_again(stretch& what, const options& configured, const std::stop_token& stop, gatherer::ears to) {
  if (what.is_alone) {
    const auto looked_at = disk::wall_clock();
    const auto found = what.of->find(what.path);
    if (!found) throw_if_unsure(found.error());
    if (!found || found->path != what.path) return false;
    what.found.push_back(std::make_shared<block>(what.of));
    what.found.back()->add(what.path, found->facts, looked_at);
    return false;
  }
  listing part;
  gatherer gathering(part, configured, stop, std::move(to));
  (void)gathering.gather(what.of, what.path);  // false: the server stops, or the list has reached its limit
  for (std::size_t i = 0; auto next = part.block_at(i); ++i) what.found.push_back(std::move(next));
  return gathering.has_missed();
}

namespace {

constexpr std::size_t description_limit = 256ull << 20;  // bytes of all descriptions together

}  // namespace

std::string seconds_text(std::chrono::steady_clock::duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

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
    // The changes that a failed walk was to find are not recorded anywhere, so everything is walked.
    const bool is_whole_walk = std::exchange(wanted, false) || !latest || has_failed;
    mends = false;
    has_failed = false;
    is_walking = true;
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
        // The pending changes are lost, so everything is walked after a pause.
        monotonic_clock::wait_for(changed, lock, token, pause_after_failure, [] { return false; });
        want_walk();
      }
    }
    is_walking = false;
    last_end = monotonic_clock::now();
    changed.notify_all();
  }
}

/// Walks everything and replaces the latest listing. Called with the lock held. May throw with or without it; then nothing is
/// replaced.
void indexer::state::walk_once(std::unique_lock<std::mutex>& lock) {
  auto fresh = std::make_shared<listing>();
  to_mend.clear();  // changes from now on are reported again
  growing = fresh;
  previous = latest;
  next_to_describe = 0;
  described_bytes = 0;
  changed.notify_all();
  const bool is_first = walks == 0;
  const auto begin = monotonic_clock::now();
  lock.unlock();
  bool misses = false;
  const auto newest_folder = walk_all(*fresh, misses);
  fresh->finish();
  const auto took = monotonic_clock::now() - begin;
  if (is_first || took > std::chrono::seconds(5)) {
    say("indexed " + std::to_string(fresh->size()) + " entries in " + seconds_text(took));
  }
  lock.lock();
  if (stop.stop_requested()) return;
  const auto before = std::exchange(latest, std::move(fresh));
  growing.reset();
  ++walks;
  has_missed = misses;
  last_duration = took;
  // The first walk has nothing to compare with. If a folder changed after clients began to watch, the list may have changed. A
  // change in a folder after the walk left it is reported in any case.
  const bool may_have_missed = !before && told_since && is_racy(newest_folder, *told_since);
  if ((!before && !may_have_missed) || !ears.names_changed) return;
  const auto now = latest;
  changed.notify_all();
  lock.unlock();
  if (may_have_missed || !before->has_same_names(*now)) ears.names_changed();
  lock.lock();
}

/// Walks the changed parts again and puts them into the latest listing. Locking as for `walk_once`.
void indexer::state::mend_once(std::unique_lock<std::mutex>& lock) {
  auto stretches = std::exchange(to_mend, {});
  const auto before = latest;
  lock.unlock();
  reduce(stretches);
  if (stretches.empty()) return lock.lock();
  bool misses = false;
  for (auto& one : stretches) misses = walk_again(one, configured, stop.get_token(), ears_of_walk()) || misses;
  auto mended = before->with(stretches);
  const bool has_others = !before->has_same_names(*mended);
  lock.lock();
  if (stop.stop_requested()) return;
  previous = before;
  latest = std::move(mended);
  has_missed = has_missed || misses;
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

disk::stamp indexer::state::walk_all(listing& into, bool& misses) {
  gatherer gathering(into, configured, stop.get_token(), ears_of_walk());
  for (const auto& one : roots) {
    if (!gathering.gather(one)) break;
  }
  misses = gathering.has_missed();
  return gathering.newest_folder();
}

/// The next block without descriptions; null if there is none for now. Called with the lock held.
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

/// Whether the second pass has work to do, including the release of the listing before the latest.
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

/// Describes one block, or waits for one. Called with the lock held. May throw with or without it.
void indexer::state::describe_next(std::unique_lock<std::mutex>& lock) {
  const auto next = next_block();
  if (!next) {
    changed.wait(lock, stop.get_token(), [this] { return has_work(); });
    return;
  }
  skip(*next);  // before it is tried, so that a failure is not repeated
  const auto copy_from = previous;
  const bool has_room = described_bytes < description_limit;
  lock.unlock();
  std::unique_ptr<const block_descriptions> made;
  if (has_room) {
    made = describe_block(*next, copy_from.get());
  } else {
    say_once("there are too many files to store the titles and descriptions of all");
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

/// Skips a block if it is the next one in order.
void indexer::state::skip(const block& what) {
  const auto& from = growing ? growing : latest;
  if (from && from->block_at(next_to_describe).get() == &what) ++next_to_describe;
}

}  // namespace hondana::files
