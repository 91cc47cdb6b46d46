/// Walks the roots in the background, and caches the latest listing of their files.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Roots in the order of their URIs.
using root_list = std::vector<std::shared_ptr<const served_root>>;

/// Two background threads, started when first needed. One walks the roots; the other follows it and describes the files.
/// Threads: any.
///
/// Memory: the latest listing and the one that replaces it. The old one is released as soon as the new one is described.
class indexer {
 public:
  /// Callbacks of walks; any may be empty. The walking thread calls them without locks. `is_watched` may be called by any
  /// thread, with a lock held.
  struct callbacks {
    std::function<void(const served_root&, const std::string& path)> on_enter_folder;  ///< Before a folder is listed.
    std::function<void()> on_names_changed;  ///< The set of URIs in the list has changed.
    std::function<bool()> is_watched;  ///< Whether `record_change` is called for every change, so that lists do not expire.
  };

  indexer(root_list roots, const options& options, callbacks callbacks = {});
  /// Stops both threads. Leaves one behind if it is stuck in a system call for more than a second.
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  /// The listing to answer from. The first one is returned while it still grows; later ones are complete. If the latest is
  /// older than `options::refresh_interval`, a new walk starts in the background. If the last walk found fewer than 5000
  /// entries, the call waits for the new one, at most until `deadline`. When a walk fails (memory, or a log that throws), the
  /// failure is logged and the latest listing stays. Errors: cancelled, timed_out, overloaded if no thread can be started.
  /// source_unavailable while there is no listing because the first walk failed.
  [[nodiscard]] result<std::shared_ptr<const listing>> current(const request_context& context,
                                                               monotonic_clock::time_point deadline);

  /// A counter that grows before anything in a listing may become wrong. Read it before `current`.
  [[nodiscard]] std::uint64_t change_count() const noexcept { return change_counter_->load(); }
  [[nodiscard]] const std::shared_ptr<std::atomic<std::uint64_t>>& change_counter() const noexcept { return change_counter_; }
  /// Counts something that may be about to change, or about to be reported.
  void count_change() noexcept { change_counter_->fetch_add(1); }
  /// Whether `listing` has been complete and idle, with every folder watched, since `change_count` was `initial_count`.
  [[nodiscard]] bool is_unchanged_since(std::uint64_t initial_count, const listing& listing) const;

  /// Starts a walk. If one is in progress, another follows it.
  void refresh();
  /// Makes sure that the first walk has begun.
  void start();
  /// As `start`. From now on, `on_names_changed` also reports changes that happen before the first walk reaches them.
  void start_reporting();

  /// Reports a change at a path or below it. If names may have changed, the listing is updated at once, otherwise with the next
  /// `current`.
  void record_change(const std::shared_ptr<const served_root>& root, const std::string& path, bool may_affect_names);
  /// The known title of an entry; empty if there is none.
  [[nodiscard]] std::string title_of(std::string_view uri) const;

  /// Waits at most 30 ms until these records have descriptions. The second pass handles them first.
  void await_descriptions(const std::vector<record_ref>& records, const request_context& context);

  /// The present activity, in words for people.
  [[nodiscard]] provider_health current_health() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::shared_ptr<std::atomic<std::uint64_t>> change_counter_;  // the same object as in `state_`
};

}  // namespace hondana::files
