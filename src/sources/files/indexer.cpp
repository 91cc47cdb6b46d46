/// Walks the roots in the background, and caches the latest listing of their files.
#include "sources/files/indexer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/files/indexer_passes.hpp"

namespace hondana::files {
namespace {

using clock = monotonic_clock;

constexpr std::size_t max_small_entries = 5'000;
constexpr std::chrono::milliseconds description_timeout{30};
constexpr std::chrono::seconds shutdown_timeout{1};
// After a long walk, the next one waits nine times as long, so that walks take at most a tenth of the time.
constexpr int idle_factor = 9;

// With more pending changes than this, everything is walked again.
constexpr std::size_t max_pending_updates = 4'096;

}  // namespace

indexer::indexer(root_list roots, const options& options, callbacks callbacks)
    : state_(std::make_shared<state>(std::move(roots), options, std::move(callbacks))),
      change_counter_(state_->change_counter) {}

indexer::~indexer() {
  state_->stop.request_stop();
  bool has_exited = false;
  {
    std::unique_lock lock(state_->mutex);
    has_exited = monotonic_clock::wait_for(state_->state_changed, lock, shutdown_timeout,
                                           [this] { return state_->running_threads == 0; });
  }
  if (has_exited) return;
  const std::lock_guard lock(state_->log_mutex);
  state_->is_log_closed = true;
}

result<std::shared_ptr<const listing>> indexer::current(const request_context& context, monotonic_clock::time_point deadline) {
  HONDANA_TRY(check_cancellation(context));
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  try {
    s.start(state_);
  } catch (const std::system_error& error) {
    return fail(errc::overloaded, "The folder cannot be indexed: no thread can be started. Retry later.", error.what());
  }
  const auto interval = s.settings.refresh_interval;
  const auto base_interval = s.has_failed ? std::min<std::chrono::milliseconds>(state::failure_backoff, interval) : interval;
  const auto min_interval = std::max<clock::duration>(base_interval, s.last_duration * idle_factor);
  // A listing whose changes are all reported does not expire, except after a failure.
  const bool is_watched = s.callbacks.is_watched && s.callbacks.is_watched() && !s.has_failed && !s.has_missed_entries;
  const bool is_due = !is_watched && !s.is_walk_requested && !s.growing && clock::now() - s.last_walk_end > min_interval;
  if (!s.latest) {
    if (s.has_failed && is_due) {
      s.request_walk();
      s.state_changed.notify_all();
    }
    const auto is_failed = [&s] { return s.has_failed && !s.is_walk_requested && !s.growing; };
    monotonic_clock::wait_until(s.state_changed, lock, context.stop, context.deadline,
                                [&s, is_failed] { return s.growing || s.latest || is_failed(); });
    if (s.latest) return s.latest;
    if (s.growing) return s.growing;
    if (is_failed()) {
      return fail(errc::source_unavailable, "The files could not be listed, because indexing failed. Retry later.");
    }
    if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    return fail(errc::timed_out, "The folder was not listed before the deadline. Retry later.");
  }
  if (is_due) {
    s.request_walk();
    s.state_changed.notify_all();
  }
  if (!s.pending_updates.empty()) {
    s.is_update_requested = true;
    s.state_changed.notify_all();
  }
  const bool is_short = s.latest->size() < max_small_entries || (s.is_update_requested && !s.is_walk_requested && !s.growing);
  if ((s.is_walk_requested || s.growing || s.is_update_requested || s.is_walking) && is_short) {
    // A walk in progress has already taken its share of the pending changes. The others are in the next one.
    const auto required_walks = s.walk_count + (s.is_walking && (s.is_walk_requested || s.is_update_requested) ? 2 : 1);
    monotonic_clock::wait_until(s.state_changed, lock, context.stop, std::min(context.deadline, deadline),
                                [&s, required_walks] {
                                  return s.walk_count >= required_walks ||
                                         (!s.is_walk_requested && !s.growing && !s.is_update_requested && !s.is_walking);
                                });
  }
  return s.latest;
}

bool indexer::is_unchanged_since(std::uint64_t initial_count, const listing& listing) const {
  const auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  // An update or a walk may have ended meanwhile, which does not increment `change_counter`.
  return s.latest.get() == &listing && s.is_idle() && change_counter_->load() == initial_count && s.callbacks.is_watched &&
         s.callbacks.is_watched();
}

void indexer::start() {
  const std::lock_guard lock(state_->mutex);
  try {
    state_->start(state_);
  } catch (const std::system_error& error) {
    state_->log_failure("starting to index", error);  // the next list tries again
  }
}

void indexer::start_reporting() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->watched_since) state_->watched_since = disk::wall_clock();
  }
  start();
}

void indexer::record_change(const std::shared_ptr<const served_root>& root, const std::string& path, bool may_affect_names) {
  auto& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.is_started || (!s.latest && !s.growing)) return;  // the first walk finds it
    count_change();
    if (s.pending_updates.size() >= max_pending_updates) {
      s.request_walk();
    } else {
      s.pending_updates.push_back({root, path, false, {}});
      if (may_affect_names && !path.empty()) {
        const auto slash = path.rfind('/');
        s.pending_updates.push_back({root, slash == std::string::npos ? std::string() : path.substr(0, slash), true, {}});
      }
    }
    if (!may_affect_names && !s.is_walk_requested) return;
    s.is_update_requested = true;
  }
  s.state_changed.notify_all();
}

std::string indexer::title_of(std::string_view uri) const {
  std::shared_ptr<const listing> listing;
  {
    const std::lock_guard lock(state_->mutex);
    listing = state_->latest;
  }
  const auto ref = listing ? listing->find(uri) : std::nullopt;
  const auto* descriptions = ref ? ref->block->descriptions() : nullptr;
  return descriptions == nullptr ? std::string() : descriptions->at(ref->index).title;
}

void indexer::refresh() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->is_started) return;  // the first list walks anyway
  state_->request_walk();
  state_->state_changed.notify_all();
}

void indexer::await_descriptions(const std::vector<record_ref>& records, const request_context& context) {
  const auto is_described = [&records] {
    return std::all_of(records.begin(), records.end(),
                       [](const record_ref& ref) { return ref.block->descriptions() != nullptr; });
  };
  auto& s = *state_;
  if (is_described()) return;
  std::unique_lock lock(s.mutex);
  const record_block* last_block = nullptr;
  for (const auto& ref : records) {
    if (ref.block.get() == last_block || ref.block->descriptions() != nullptr) continue;
    last_block = ref.block.get();
    constexpr std::size_t max_urgent_blocks = 64;
    if (s.urgent_blocks.size() < max_urgent_blocks) s.urgent_blocks.push_back(ref.block);
  }
  s.state_changed.notify_all();
  monotonic_clock::wait_until(s.state_changed, lock, context.stop,
                              std::min(context.deadline, clock::now() + description_timeout), is_described);
}

provider_health indexer::current_health() const {
  auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.has_failed && s.latest) return {false, "the last indexing failed, so lists may be out of date; the log says why"};
  if (s.has_missed_entries)
    return {true, std::to_string(s.latest->size()) + " entries; some could not be accessed, the log says which"};
  if (s.latest) return {true, std::to_string(s.latest->size()) + " entries, indexed in " + format_seconds(s.last_duration)};
  if (s.has_failed) return {false, "the last indexing failed; the log says why"};
  if (s.growing) return {true, "indexing, " + std::to_string(s.growing->size()) + " entries so far"};
  return {true, "not indexed yet"};
}

}  // namespace hondana::files
