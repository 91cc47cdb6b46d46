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

void remove_nested(std::vector<subtree>& subtrees) {
  std::vector<std::pair<std::string, subtree>> sorted;
  sorted.reserve(subtrees.size());
  for (auto& unsorted : subtrees) sorted.emplace_back(unsorted.root->uri_of(unsorted.path), std::move(unsorted));
  // Of equal paths, the one that includes everything below it comes first.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const auto order = compare_by_segment(a.first, b.first);
    return std::is_lt(order) || (std::is_eq(order) && !a.second.is_entry_only && b.second.is_entry_only);
  });
  subtrees.clear();
  std::string covering_uri;  // URI of the last one that includes everything below it
  std::string last_uri;
  for (auto& [uri, subtree] : sorted) {
    if (!subtrees.empty() && (uri == last_uri || (!covering_uri.empty() && uri_covers(covering_uri, uri)))) continue;
    if (!subtree.is_entry_only) covering_uri = uri;
    last_uri = uri;
    subtrees.push_back(std::move(subtree));
  }
}

bool rewalk(subtree& subtree, const options& options, const std::stop_token& stop, listing_builder::callbacks callbacks) {
  if (subtree.is_entry_only) {
    const auto checked_at = disk::wall_clock();
    const auto resolved = subtree.root->find(subtree.path);
    if (!resolved) throw_if_system_error(resolved.error());
    if (!resolved || resolved->path != subtree.path) return false;
    subtree.blocks.push_back(std::make_shared<record_block>(subtree.root));
    subtree.blocks.back()->add(subtree.path, resolved->attributes, checked_at);
    return false;
  }
  listing updated;
  listing_builder builder(updated, options, stop, std::move(callbacks));
  (void)builder.collect(subtree.root, subtree.path);  // false: the server stops, or the list has reached its limit
  for (std::size_t i = 0; auto next = updated.block_at(i); ++i) subtree.blocks.push_back(std::move(next));
  return builder.has_missed_entries();
}

namespace {

constexpr std::size_t max_description_bytes = 256ull << 20;  // bytes of all descriptions together

}  // namespace

std::string format_seconds(std::chrono::steady_clock::duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(duration).count());
  return text;
}

void indexer::state::start(const std::shared_ptr<state>& owner) {
  if (is_started) return;
  const auto launch = [&owner](void (state::*pass)()) {
    ++owner->running_threads;
    try {
      std::thread([owner, pass] {
        (owner.get()->*pass)();
        const std::lock_guard lock(owner->mutex);
        --owner->running_threads;
        owner->state_changed.notify_all();
      }).detach();
    } catch (...) {
      --owner->running_threads;
      throw;
    }
  };
  launch(&state::run_walks);
  is_started = true;
  is_walk_requested = true;
  launch(&state::run_descriptions);
}

void indexer::state::run_walks() {
  const auto token = stop.get_token();
  std::unique_lock lock(mutex);
  while (state_changed.wait(lock, token, [this] { return is_walk_requested || is_update_requested; })) {
    // The changes that a failed walk was to find are not recorded anywhere, so everything is walked.
    const bool is_full_walk = std::exchange(is_walk_requested, false) || !latest || has_failed;
    is_update_requested = false;
    has_failed = false;
    is_walking = true;
    try {
      if (is_full_walk) {
        walk_once(lock);
      } else {
        update_once(lock);
      }
    } catch (const std::exception& error) {
      if (lock.owns_lock()) lock.unlock();
      log_failure("indexing", error);
      lock.lock();
      has_failed = true;
      if (growing) growing->abandon();
      growing.reset();
      next_to_describe = 0;
      if (!is_full_walk) {
        // The pending changes are lost, so everything is walked after a pause.
        monotonic_clock::wait_for(state_changed, lock, token, failure_backoff, [] { return false; });
        request_walk();
      }
    }
    is_walking = false;
    last_walk_end = monotonic_clock::now();
    state_changed.notify_all();
  }
}

/// Walks everything and replaces the latest listing. Called with the lock held. May throw with or without it; then nothing is
/// replaced.
void indexer::state::walk_once(std::unique_lock<std::mutex>& lock) {
  auto new_listing = std::make_shared<listing>();
  pending_updates.clear();  // changes from now on are reported again
  growing = new_listing;
  previous = latest;
  next_to_describe = 0;
  described_bytes = 0;
  state_changed.notify_all();
  const bool is_first = walk_count == 0;
  const auto started_at = monotonic_clock::now();
  lock.unlock();
  bool is_incomplete = false;
  const auto newest_folder = walk_all(*new_listing, is_incomplete);
  new_listing->finish();
  const auto duration = monotonic_clock::now() - started_at;
  if (is_first || duration > std::chrono::seconds(5)) {
    write_log("indexed " + std::to_string(new_listing->size()) + " entries in " + format_seconds(duration));
  }
  lock.lock();
  if (stop.stop_requested()) return;
  const auto old_listing = std::exchange(latest, std::move(new_listing));
  growing.reset();
  ++walk_count;
  has_missed_entries = is_incomplete;
  last_duration = duration;
  // The first walk has nothing to compare with. If a folder changed after clients began to watch, the list may have changed. A
  // change in a folder after the walk left it is reported in any case.
  const bool may_have_missed = !old_listing && watched_since && is_racy(newest_folder, *watched_since);
  if ((!old_listing && !may_have_missed) || !callbacks.on_names_changed) return;
  const auto new_latest = latest;
  state_changed.notify_all();
  lock.unlock();
  if (may_have_missed || !old_listing->has_same_names(*new_latest)) callbacks.on_names_changed();
  lock.lock();
}

/// Walks the changed parts again and puts them into the latest listing. Locking as for `walk_once`.
void indexer::state::update_once(std::unique_lock<std::mutex>& lock) {
  auto subtrees = std::exchange(pending_updates, {});
  const auto base = latest;
  lock.unlock();
  remove_nested(subtrees);
  if (subtrees.empty()) return lock.lock();
  bool is_incomplete = false;
  for (auto& subtree : subtrees)
    is_incomplete = rewalk(subtree, settings, stop.get_token(), make_walk_callbacks()) || is_incomplete;
  auto updated = base->with_replaced(subtrees);
  const bool has_different_names = !base->has_same_names(*updated);
  lock.lock();
  if (stop.stop_requested()) return;
  previous = base;
  latest = std::move(updated);
  has_missed_entries = has_missed_entries || is_incomplete;
  next_to_describe = 0;
  ++walk_count;
  if (!has_different_names || !callbacks.on_names_changed) return;
  state_changed.notify_all();
  lock.unlock();
  callbacks.on_names_changed();
  lock.lock();
}

listing_builder::callbacks indexer::state::make_walk_callbacks() {
  return {[this] {
            const std::lock_guard lock(mutex);
            state_changed.notify_all();
          },
          [this, is_first = walk_count == 0](const std::string& line) {
            if (is_first) write_log(line);
          },
          [this](const std::string& line) { log_once(line); }, callbacks.on_enter_folder};
}

disk::stamp indexer::state::walk_all(listing& target, bool& is_incomplete) {
  listing_builder builder(target, settings, stop.get_token(), make_walk_callbacks());
  for (const auto& root : roots) {
    if (!builder.collect(root)) break;
  }
  is_incomplete = builder.has_missed_entries();
  return builder.newest_folder();
}

/// The next block without descriptions; null if there is none for now. Called with the lock held.
std::shared_ptr<record_block> indexer::state::next_block() {
  while (!urgent_blocks.empty()) {
    auto next = std::move(urgent_blocks.front());
    urgent_blocks.pop_front();
    if (next->descriptions() == nullptr) return next;
  }
  const auto& source = growing ? growing : latest;
  if (!source) return nullptr;
  for (; auto next = source->block_at(next_to_describe); ++next_to_describe) {
    if (next->descriptions() == nullptr) return next;
  }
  if (source == latest) previous.reset();
  return nullptr;
}

/// Whether the second pass has work to do, including the release of the listing before the latest.
bool indexer::state::has_work() const {
  const auto& source = growing ? growing : latest;
  return !urgent_blocks.empty() || (source && source->block_at(next_to_describe)) || (previous && !growing);
}

void indexer::state::run_descriptions() {
  const auto token = stop.get_token();
  std::unique_lock lock(mutex);
  while (!token.stop_requested()) {
    try {
      describe_next(lock);
    } catch (const std::exception& error) {
      if (lock.owns_lock()) lock.unlock();
      log_failure("describing files", error);
      lock.lock();
    }
  }
}

/// Describes one block, or waits for one. Called with the lock held. May throw with or without it.
void indexer::state::describe_next(std::unique_lock<std::mutex>& lock) {
  const auto block = next_block();
  if (!block) {
    state_changed.wait(lock, stop.get_token(), [this] { return has_work(); });
    return;
  }
  skip(*block);  // before it is tried, so that a failure is not repeated
  const auto previous_listing = previous;
  const bool has_capacity = described_bytes < max_description_bytes;
  lock.unlock();
  std::unique_ptr<const block_descriptions> descriptions;
  if (has_capacity) {
    descriptions = describe_block(*block, previous_listing.get());
  } else {
    log_once("there are too many files to store the titles and descriptions of all");
    auto empty = std::make_unique<block_descriptions>();
    for (std::size_t i = 0; i < block->size(); ++i) empty->add({}, {});
    descriptions = std::move(empty);
  }
  const auto bytes = descriptions->bytes();
  block->set_descriptions(std::move(descriptions));
  lock.lock();
  described_bytes += bytes;
  state_changed.notify_all();
}

/// Skips a block if it is the next one in order.
void indexer::state::skip(const record_block& block) {
  const auto& source = growing ? growing : latest;
  if (source && source->block_at(next_to_describe).get() == &block) ++next_to_describe;
}

}  // namespace hondana::files
