/// The two background passes of the indexer: one walks the roots, the other describes the files that were found.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor/thread_guards.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Fills a listing from walks, block by block. Threads: one. Throws what the callbacks throw.
class listing_builder final : public walk_listener {
 public:
  using log_function = std::function<void(const std::string&)>;

  /// Callbacks of a walk.
  struct callbacks {
    std::function<void()> on_growth;  ///< After a block was appended.
    log_function on_progress;         ///< A line for the log, every 50,000 entries.
    log_function on_problem;          ///< A line for the log.
    /// Before a folder is listed, with its path; may be empty.
    std::function<void(const served_root&, const std::string&)> on_enter_folder{};
  };

  /// `target`, `options`: must outlive this object. `stop`: ends the walk.
  listing_builder(listing& target, const options& options, std::stop_token stop, callbacks callbacks)
      : target_(target), options_(options), stop_(std::move(stop)), callbacks_(std::move(callbacks)) {}

  /// Walks the entry at `path` in a root and everything below it; an empty path is the root. Returns false when the limit of
  /// entries is reached, or `stop` was requested. Throws as `walk_below`.
  bool collect(const std::shared_ptr<const served_root>& root, const std::string& path = {}) {
    root_ = root;
    checked_at_ = disk::wall_clock();
    open_block_ = std::make_shared<record_block>(root_);
    const bool is_complete = walk_below(*root, path, {options_.max_depth, options_.max_entries}, *this);
    flush();
    return is_complete;
  }

  bool on_entry(const served_root& root, std::string_view path, const struct stat& attributes) override {
    if (stop_.stop_requested()) return false;
    if (count_ >= options_.max_entries) {
      callbacks_.on_problem("only the first " + std::to_string(count_) + " entries are listed; those after " + root.path() +
                            "/" + std::string(path) + " can still be read by URI");
      return false;
    }
    if (S_ISDIR(attributes.st_mode) && callbacks_.on_enter_folder) callbacks_.on_enter_folder(root, std::string(path));
    open_block_->add(path, attributes, checked_at_);
    // The first entry is published at once, so that waiting callers can begin with it.
    if (path.empty() || open_block_->size() == record_block::capacity) flush();
    if (++count_ % progress_interval == 0) {
      callbacks_.on_progress("indexed " + std::to_string(count_) + " entries so far, at " + root.path() + "/" +
                             std::string(path));
    }
    checked_at_ = disk::wall_clock();
    return true;
  }
  /// The stamp of the most recently changed folder, taken when the walk left that folder.
  [[nodiscard]] const disk::stamp& newest_folder() const noexcept { return newest_folder_; }

  void on_folder_end(const struct stat& attributes) override {
    if (const auto stamp = disk::stamp_of(attributes); stamp.changed > newest_folder_.changed) newest_folder_ = stamp;
  }
  void on_omitted(const served_root&, std::string_view, const examined_entry&) override { checked_at_ = disk::wall_clock(); }
  void on_problem(const served_root& root, std::string_view path, const std::string& problem) override {
    callbacks_.on_problem(root.path() + "/" + std::string(path) + " " + problem);
  }
  void on_disk_failure() override { has_missed_entries_ = true; }
  /// Whether a disk failed, so that entries may be missing.
  [[nodiscard]] bool has_missed_entries() const noexcept { return has_missed_entries_; }

 private:
  static constexpr std::size_t progress_interval = 50'000;

  void flush() {
    if (open_block_->size() == 0) return;
    target_.append(std::move(open_block_));
    open_block_ = std::make_shared<record_block>(root_);
    callbacks_.on_growth();
  }

  listing& target_;
  const options& options_;
  std::stop_token stop_;
  callbacks callbacks_;
  std::shared_ptr<const served_root> root_;
  std::shared_ptr<record_block> open_block_;
  disk::stamp newest_folder_;
  bool has_missed_entries_ = false;
  std::size_t count_ = 0;
  std::int64_t checked_at_ = 0;  // wall clock, read before the state of the next entry
};

/// Sorts subtrees by their URIs, and removes those that another one contains.
void remove_nested(std::vector<subtree>& subtrees);

/// Fills `subtree.blocks`, which must be empty, with the entries that exist now and are served. Returns true when a disk
/// failed, so that entries may be missing. Throws as `walk_below`, and what the callbacks throw.
[[nodiscard]] bool rewalk(subtree& subtree, const options& options, const std::stop_token& stop,
                          listing_builder::callbacks callbacks);

/// "1.5 s".
[[nodiscard]] std::string format_seconds(std::chrono::steady_clock::duration duration);

/// The state of an indexer, shared with its threads. `mutex` guards the members below it, except `stop` and `is_log_closed`.
struct indexer::state {
  static constexpr std::size_t max_logged_problems = 200;    ///< The most lines that `log_once` writes.
  static constexpr std::chrono::seconds failure_backoff{1};  ///< Pause after a failed walk.

  state(root_list served_roots, const options& options, indexer::callbacks walk_callbacks)
      : roots(std::move(served_roots)), settings(options), callbacks(std::move(walk_callbacks)) {}

  const root_list roots;
  const options settings;
  const indexer::callbacks callbacks;
  /// Incremented before a member below shows that the latest listing may be wrong.
  const std::shared_ptr<std::atomic<std::uint64_t>> change_counter = std::make_shared<std::atomic<std::uint64_t>>(0);

  mutable std::mutex mutex;
  std::condition_variable_any state_changed;                // notified when any member below changes
  std::shared_ptr<listing> growing;                         // of the walk in progress
  std::shared_ptr<listing> latest;                          // complete
  std::shared_ptr<listing> previous;                        // the one before `latest`, whose descriptions can be reused
  std::deque<std::shared_ptr<record_block>> urgent_blocks;  // to be described before all others
  std::size_t next_to_describe = 0;                         // index in `growing`, or in `latest` if nothing grows
  std::size_t described_bytes = 0;                          // bytes of the descriptions made since the last full walk began
  std::size_t walk_count = 0;                               // number of finished walks and updates
  std::chrono::steady_clock::time_point last_walk_end;
  std::chrono::steady_clock::duration last_duration{0};  // of the last full walk
  bool is_walk_requested = false;
  std::optional<std::int64_t> watched_since;  // by `wall_clock`; absent: no client was watching before the first walk
  std::vector<subtree> pending_updates;       // parts of `latest` to update, in no order
  bool is_update_requested = false;           // the updates are wanted now
  bool is_walking = false;                    // a walk or an update is in progress
  bool has_failed = false;                    // the last walk or update
  bool has_missed_entries = false;            // entries missing from `latest`, because a disk failed
  bool is_started = false;
  int running_threads = 0;
  std::stop_source stop;
  std::set<std::string> logged_lines;  // by `log_once`
  std::mutex log_mutex;
  bool is_log_closed = false;  // set when the log may no longer exist

  void write_log(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (settings.log && !is_log_closed) settings.log(line);
  }
  /// Logs why a pass failed, if there is enough memory for that. `pass`: its name for people, such as "indexing".
  void log_failure(const char* pass, const std::exception& error) noexcept {
    char line[256];
    std::snprintf(line, sizeof line, "%s failed: %.180s", pass, error.what());
    executor::run_noexcept([&] { write_log(line); });
  }
  /// Logs a line unless it was logged before, or too many different lines were.
  void log_once(const std::string& line) {
    {
      const std::lock_guard lock(mutex);
      if (logged_lines.size() >= max_logged_problems || !logged_lines.insert(line).second) return;
    }
    write_log(line);
  }

  /// With the lock held: requests a walk of everything.
  void request_walk() {
    change_counter->fetch_add(1);
    is_walk_requested = true;
  }
  /// With the lock held: whether there is a complete listing, and no known change is missing from it.
  [[nodiscard]] bool is_idle() const noexcept {
    return latest && !growing && !is_walk_requested && !is_update_requested && !is_walking && !has_failed &&
           !has_missed_entries && pending_updates.empty();
  }
  /// With the lock held: starts both threads unless they run. `owner`: this state. Throws std::system_error.
  void start(const std::shared_ptr<state>& owner);
  // The first pass, which walks:
  /// The function of the walking thread.
  void run_walks();
  /// With the lock held, which it releases meanwhile: walks everything and replaces `latest`.
  void walk_once(std::unique_lock<std::mutex>& lock);
  /// Returns `listing_builder::newest_folder`. Sets `is_incomplete` to whether a disk failed.
  [[nodiscard]] disk::stamp walk_all(listing& target, bool& is_incomplete);
  /// As `walk_once`, but walks only the pending updates.
  void update_once(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] listing_builder::callbacks make_walk_callbacks();
  // The second pass, which describes:
  /// The function of the describing thread.
  void run_descriptions();
  /// With the lock held, which it releases meanwhile: describes one block, or waits for one.
  void describe_next(std::unique_lock<std::mutex>& lock);
  /// With the lock held: advances `next_to_describe` if it is at this block.
  void skip(const record_block& block);
  /// With the lock held: whether there is a block to describe, or a listing to release.
  bool has_work() const;
  /// With the lock held: the next block without descriptions; null if there is none for now.
  std::shared_ptr<record_block> next_block();
};

}  // namespace hondana::files
