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
class gatherer final : public walk_listener {
 public:
  using sayer = std::function<void(const std::string&)>;

  /// Callbacks of a walk.
  struct ears {
    std::function<void()> grew;
    sayer progress;
    sayer trouble;
    /// Before a folder is listed; may be empty.
    std::function<void(const root&, const std::string&)> entering{};
  };

  gatherer(listing& into, const options& configured, std::stop_token stop, ears to)
      : into_(into), configured_(configured), stop_(std::move(stop)), to_(std::move(to)) {}

  /// Walks a root, or the entry at a path in it with everything below. False when nothing more is to be walked. Throws as
  /// `walk`.
  bool gather(const std::shared_ptr<const root>& of, const std::string& below = {}) {
    root_ = of;
    looked_at_ = disk::wall_clock();
    open_ = std::make_shared<block>(root_);
    const bool all = walk_below(*of, below, {configured_.max_depth, configured_.max_entries}, *this);
    flush();
    return all;
  }

  bool served(const root& of, std::string_view path, const struct stat& facts) override {
    if (stop_.stop_requested()) return false;
    if (count_ >= configured_.max_entries) {
      to_.trouble("only the first " + std::to_string(count_) + " entries are listed; those after " + of.path() + "/" +
                  std::string(path) + " can still be read by URI");
      return false;
    }
    if (S_ISDIR(facts.st_mode) && to_.entering) to_.entering(of, std::string(path));
    open_->add(path, facts, looked_at_);
    // The first entry is published at once, so that waiting callers can begin with it.
    if (path.empty() || open_->size() == block::capacity) flush();
    if (++count_ % progress_step == 0) {
      to_.progress("indexed " + std::to_string(count_) + " entries so far, at " + of.path() + "/" + std::string(path));
    }
    looked_at_ = disk::wall_clock();
    return true;
  }
  /// The most recently changed folder, in its state when the walk left it.
  [[nodiscard]] const disk::stamp& newest_folder() const noexcept { return newest_; }

  void leaving(const struct stat& facts) override {
    if (const auto state = disk::stamp_of(facts); state.changed > newest_.changed) newest_ = state;
  }
  void left_out(const root&, std::string_view, const examined&) override { looked_at_ = disk::wall_clock(); }
  void trouble(const root& of, std::string_view path, const std::string& what) override {
    to_.trouble(of.path() + "/" + std::string(path) + " " + what);
  }
  void missed() override { has_missed_ = true; }
  /// Whether a disk failed, so that entries may be missing.
  [[nodiscard]] bool has_missed() const noexcept { return has_missed_; }

 private:
  static constexpr std::size_t progress_step = 50'000;

  void flush() {
    if (open_->size() == 0) return;
    into_.append(std::move(open_));
    open_ = std::make_shared<block>(root_);
    to_.grew();
  }

  listing& into_;
  const options& configured_;
  std::stop_token stop_;
  ears to_;
  std::shared_ptr<const root> root_;
  std::shared_ptr<block> open_;
  disk::stamp newest_;
  bool has_missed_ = false;
  std::size_t count_ = 0;
  std::int64_t looked_at_ = 0;  // wall clock, read before the state of the next entry
};

/// Sorts stretches by their URIs, and removes those within another one.
void reduce(std::vector<stretch>& all);

/// Fills `what.found` with the entries that exist now. It stays empty if there are none, or if they are not served. True when a
/// disk failed, so that entries may be missing. Throws as `walk_below`, and what the callbacks throw.
[[nodiscard]] bool walk_again(stretch& what, const options& configured, const std::stop_token& stop, gatherer::ears to);

/// "1.5 s".
[[nodiscard]] std::string seconds_text(std::chrono::steady_clock::duration time);

struct indexer::state {
  static constexpr std::size_t trouble_limit = 200;  ///< Different lines about failures that are logged at most.
  static constexpr std::chrono::seconds pause_after_failure{1};

  state(root_list served, const options& all, indexer::ears to)
      : roots(std::move(served)), configured(all), ears(std::move(to)) {}

  const root_list roots;
  const options configured;
  const indexer::ears ears;
  /// Incremented before anything below makes the latest listing doubtful.
  const std::shared_ptr<std::atomic<std::uint64_t>> stirs = std::make_shared<std::atomic<std::uint64_t>>(0);

  mutable std::mutex mutex;
  std::condition_variable_any changed;  // notified when any member below changes
  std::shared_ptr<listing> growing;     // of the walk in progress
  std::shared_ptr<listing> latest;      // complete
  std::shared_ptr<listing> previous;    // the one before `latest`, whose descriptions can be reused
  std::deque<std::shared_ptr<block>> urgent;
  std::size_t next_to_describe = 0;  // index in `growing`, or in `latest` if nothing grows
  std::size_t described_bytes = 0;
  std::size_t walks = 0;  // number of finished walks and updates
  std::chrono::steady_clock::time_point last_end;
  std::chrono::steady_clock::duration last_duration{0};
  bool wanted = false;
  std::optional<std::int64_t> told_since;  // by `wall_clock`; absent: no client was watching before the first walk
  std::vector<stretch> to_mend;            // parts of `latest` to update, in no order
  bool mends = false;                      // the updates are wanted now
  bool is_walking = false;                 // a walk or an update is in progress
  bool has_failed = false;                 // the last walk or update
  bool has_missed = false;                 // entries missing from `latest`, because a disk failed
  bool is_started = false;
  int running = 0;
  std::stop_source stop;
  std::set<std::string> told;
  std::mutex log_mutex;
  bool is_silent = false;  // set when the log may no longer exist

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (configured.log && !is_silent) configured.log(line);
  }
  /// Logs why a pass failed, if there is enough memory for that.
  void say_failure(const char* pass, const std::exception& why) noexcept {
    char line[256];
    std::snprintf(line, sizeof line, "%s failed: %.180s", pass, why.what());
    executor::without_throwing([&] { say(line); });
  }
  void say_once(const std::string& line) {
    {
      const std::lock_guard lock(mutex);
      if (told.size() >= trouble_limit || !told.insert(line).second) return;
    }
    say(line);
  }

  /// With the lock held: requests a walk of everything.
  void want_walk() {
    stirs->fetch_add(1);
    wanted = true;
  }
  /// With the lock held: whether there is a complete listing, and no known change is missing from it.
  [[nodiscard]] bool is_at_rest() const noexcept {
    return latest && !growing && !wanted && !mends && !is_walking && !has_failed && !has_missed && to_mend.empty();
  }
  void start(const std::shared_ptr<state>& self);
  // The first pass, which walks:
  void run_walks();
  void walk_once(std::unique_lock<std::mutex>& lock);
  /// Returns the most recently changed folder. `misses`: whether a disk failed.
  [[nodiscard]] disk::stamp walk_all(listing& into, bool& misses);
  void mend_once(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] gatherer::ears ears_of_walk();
  // The second pass, which describes:
  void run_descriptions();
  void describe_next(std::unique_lock<std::mutex>& lock);
  void skip(const block& what);
  bool has_work() const;
  std::shared_ptr<block> next_block();
};

}  // namespace hondana::files
