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

constexpr std::size_t small_walk = 5'000;
constexpr std::chrono::milliseconds description_wait{30};
constexpr std::chrono::seconds longest_farewell{1};
// After a long walk, the next one waits nine times as long, so that walks take at most a tenth of the time.
constexpr int rest_factor = 9;

// With more pending changes than this, everything is walked again.
constexpr std::size_t most_mended = 4'096;

}  // namespace

indexer::indexer(root_list roots, const options& all, ears to)
    : state_(std::make_shared<state>(std::move(roots), all, std::move(to))), stirs_(state_->stirs) {}

indexer::~indexer() {
  state_->stop.request_stop();
  bool all_left = false;
  {
    std::unique_lock lock(state_->mutex);
    all_left = monotonic_clock::wait_for(state_->changed, lock, longest_farewell, [this] { return state_->running == 0; });
  }
  if (all_left) return;
  const std::lock_guard lock(state_->log_mutex);
  state_->is_silent = true;
}

result<std::shared_ptr<const listing>> indexer::current(const call& by, monotonic_clock::time_point until) {
  HONDANA_TRY(still_wanted(by));
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  try {
    s.start(state_);
  } catch (const std::system_error& error) {
    return fail(errc::overloaded, "The folder cannot be indexed: no thread can be started. Retry later.", error.what());
  }
  const auto usual = s.configured.refresh_after;
  const auto least = s.has_failed ? std::min<std::chrono::milliseconds>(state::pause_after_failure, usual) : usual;
  const auto pause = std::max<clock::duration>(least, s.last_duration * rest_factor);
  // A listing whose changes are all reported does not expire, except after a failure.
  const bool is_watched = s.ears.is_watched && s.ears.is_watched() && !s.has_failed && !s.has_missed;
  const bool is_due = !is_watched && !s.wanted && !s.growing && clock::now() - s.last_end > pause;
  if (!s.latest) {
    if (s.has_failed && is_due) {
      s.want_walk();
      s.changed.notify_all();
    }
    const auto failed = [&s] { return s.has_failed && !s.wanted && !s.growing; };
    monotonic_clock::wait_until(s.changed, lock, by.stop, by.deadline,
                                [&s, failed] { return s.growing || s.latest || failed(); });
    if (s.latest) return s.latest;
    if (s.growing) return s.growing;
    if (failed()) {
      return fail(errc::source_unavailable, "The files could not be listed, because indexing failed. Retry later.");
    }
    if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    return fail(errc::timed_out, "The folder was not listed before the deadline. Retry later.");
  }
  if (is_due) {
    s.want_walk();
    s.changed.notify_all();
  }
  if (!s.to_mend.empty()) {
    s.mends = true;
    s.changed.notify_all();
  }
  const bool is_quick = s.latest->size() < small_walk || (s.mends && !s.wanted && !s.growing);
  if ((s.wanted || s.growing || s.mends || s.is_walking) && is_quick) {
    // A walk in progress has already taken its share of the pending changes. The others are in the next one.
    const auto enough = s.walks + (s.is_walking && (s.wanted || s.mends) ? 2 : 1);
    monotonic_clock::wait_until(s.changed, lock, by.stop, std::min(by.deadline, until), [&s, enough] {
      return s.walks >= enough || (!s.wanted && !s.growing && !s.mends && !s.is_walking);
    });
  }
  return s.latest;
}

bool indexer::is_calm_since(std::uint64_t then, const listing& seen) const {
  const auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  // An update or a walk may have ended meanwhile, which does not increment `stirs`.
  return s.latest.get() == &seen && s.is_at_rest() && stirs_->load() == then && s.ears.is_watched && s.ears.is_watched();
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
    stir();
    if (s.to_mend.size() >= most_mended) {
      s.want_walk();
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
  state_->want_walk();
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
  monotonic_clock::wait_until(s.changed, lock, by.stop, std::min(by.deadline, clock::now() + description_wait), is_described);
}

health indexer::state_of_health() const {
  auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.has_failed && s.latest) return {false, "the last indexing failed, so lists may be out of date; the log says why"};
  if (s.has_missed)
    return {true, std::to_string(s.latest->size()) + " entries; some could not be accessed, the log says which"};
  if (s.latest) return {true, std::to_string(s.latest->size()) + " entries, indexed in " + seconds_text(s.last_duration)};
  if (s.has_failed) return {false, "the last indexing failed; the log says why"};
  if (s.growing) return {true, "indexing, " + std::to_string(s.growing->size()) + " entries so far"};
  return {true, "not indexed yet"};
}

}  // namespace hondana::files
