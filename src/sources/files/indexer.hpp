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

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Roots in the order of their URIs.
using root_list = std::vector<std::shared_ptr<const served_root>>;

/// Maintains a listing of all served files with two background threads, which start when first needed. One walks the roots; the
/// other finds titles and descriptions of the files. Threads: any.
///
/// Memory: one listing, or two while a new one is made and described.
class indexer {
 public:
  /// Callbacks; any may be empty. The walking thread calls the first two without locks. Any thread calls `is_watched`, with a
  /// lock held.
  struct callbacks {
    std::function<void(const served_root&, const std::string& path)> on_enter_folder;  ///< Before a folder is listed.
    std::function<void()> on_names_changed;  ///< After the set of URIs in the listing has, or may have, changed.
    std::function<bool()> is_watched;  ///< Whether `record_change` is called for every change, so that listings do not expire.
  };

  indexer(root_list roots, const options& options, callbacks callbacks = {});
  /// Stops both threads. Leaves one behind if it is stuck in a system call for more than a second.
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  /// The listing to answer from. The first one is returned while it still grows; later ones are complete.
  ///
  /// Starts a new walk in the background if the latest listing has expired. Its age must be over `options::refresh_interval`,
  /// and over nine times the duration of the last walk. Waits for a walk if the latest listing has under 5000 entries, and for
  /// updates of changed parts, at most until `deadline`. When a walk fails (memory, or a log that throws), the failure is
  /// logged and the latest listing stays.
  /// Errors: cancelled, timed_out, overloaded if no thread can be started. source_unavailable while there is no listing because
  /// the first walk failed.
  [[nodiscard]] result<std::shared_ptr<const listing>> current(const request_context& context,
                                                               monotonic_clock::time_point deadline);

  /// A counter that grows before anything in a listing may become wrong. Callers must read it before they call `current`.
  [[nodiscard]] std::uint64_t change_count() const noexcept { return change_counter_->load(); }
  /// The counter itself, for validators that outlive the indexer.
  [[nodiscard]] const std::shared_ptr<std::atomic<std::uint64_t>>& change_counter() const noexcept { return change_counter_; }
  /// Increments `change_count` for a file that is being written. `record_change` must follow when the writing has stopped.
  void count_change() noexcept { change_counter_->fetch_add(1); }
  /// Whether `listing` is the latest, all changes are watched, none is pending, and `change_count` is still `initial_count`.
  [[nodiscard]] bool is_unchanged_since(std::uint64_t initial_count, const listing& listing) const;

  /// Requests a walk of all roots. If one is in progress, another follows it. Has no effect before the first walk.
  void refresh();
  /// Starts the threads and the first walk if they have not been started. A failure is logged; the next call tries again.
  void start();
  /// As `start`. If a folder changes after this call and before the first walk leaves it, `on_names_changed` is called after
  /// that walk. Later changes are reported without this call.
  void start_reporting();

  /// Records a change at a path or below it. The listing is updated at once if names may have changed, otherwise at the next
  /// `current`.
  void record_change(const std::shared_ptr<const served_root>& root, const std::string& path, bool may_affect_names);
  /// The title of an entry in the latest listing; empty if it has none, or is not described yet.
  [[nodiscard]] std::string title_of(std::string_view uri) const;

  /// Has the blocks of these records described first, and waits for that at most 30 ms.
  void await_descriptions(const std::vector<record_ref>& records, const request_context& context);

  /// Whether the last walk succeeded, and the number of entries, for people.
  [[nodiscard]] provider_health current_health() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::shared_ptr<std::atomic<std::uint64_t>> change_counter_;  // the same object as in `state_`
};

}  // namespace hondana::files
