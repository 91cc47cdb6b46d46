/// The two background passes of the indexer: one walks, the other describes what was found.
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

/// Fills a listing from walks, block by block. Threads: one. Throws what the ears throw.
class gatherer final : public walk_listener {
 public:
  using sayer = std::function<void(const std::string&)>;

  /// What to tell whom.
  struct ears {
    std::function<void()> grew;
    sayer progress;
    sayer trouble;
    /// Before a folder is listed; may be empty.
    std::function<void(const root&, const std::string&)> entering{};
  };

  gatherer(listing& into, const options& configured, std::stop_token stop, ears to)
      : into_(into), configured_(configured), stop_(std::move(stop)), to_(std::move(to)) {}

  /// Walks a root, or what a path in it names and what is below. False when nothing more is to be walked. Throws as `walk`.
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
    // The first entry at once, so that whoever waits has a place to begin.
    if (path.empty() || open_->size() == block::capacity) flush();
    if (++count_ % progress_step == 0) {
      to_.progress("indexed " + std::to_string(count_) + " entries so far, at " + of.path() + "/" + std::string(path));
    }
    looked_at_ = disk::wall_clock();
    return true;
  }
  /// The folder that had changed last when it was left.
  [[nodiscard]] const disk::stamp& newest_folder() const noexcept { return newest_; }

  void leaving(const struct stat& facts) override {
    if (const auto state = disk::stamp_of(facts); state.changed > newest_.changed) newest_ = state;
  }
  void left_out(const root&, std::string_view, const examined&) override { looked_at_ = disk::wall_clock(); }
  void trouble(const root& of, std::string_view path, const std::string& what) override {
    to_.trouble(of.path() + "/" + std::string(path) + " " + what);
  }
  void missed() override { has_missed_ = true; }
  /// Whether a disk failed, so that there may be more than was found.
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
  std::int64_t looked_at_ = 0;  // before the state of what comes next is asked for
};

/// Sorts stretches by their URIs, and leaves out what lies within another.
void reduce(std::vector<stretch>& all);

/// Fills `what.found` with what is there now; with nothing when nothing is, or it is not served. True when a disk failed, so
/// that something may be missing. Throws as `walk_below`, and what the ears throw.
[[nodiscard]] bool walk_again(stretch& what, const options& configured, const std::stop_token& stop, gatherer::ears to);

/// "1.5 s".
[[nodiscard]] std::string seconds_text(std::chrono::steady_clock::duration time);

struct indexer::state {
  static constexpr std::size_t trouble_limit = 200;  ///< Different lines of trouble the log is told.
  static constexpr std::chrono::seconds pause_after_failure{1};

  state(root_list served, const options& all, indexer::ears to)
      : roots(std::move(served)), configured(all), ears(std::move(to)) {}

  const root_list roots;
  const options configured;
  const indexer::ears ears;
  /// Counted before anything below makes the latest listing doubtful.
  const std::shared_ptr<std::atomic<std::uint64_t>> stirs = std::make_shared<std::atomic<std::uint64_t>>(0);

  mutable std::mutex mutex;
  std::condition_variable_any changed;  // anything below
  std::shared_ptr<listing> growing;     // of the walk under way
  std::shared_ptr<listing> latest;      // whole
  std::shared_ptr<listing> previous;    // what the second pass may copy from; no older than the one before `latest`
  std::deque<std::shared_ptr<block>> urgent;
  std::size_t next_to_describe = 0;  // in `growing`, or `latest` when nothing grows
  std::size_t described_bytes = 0;
  std::size_t walks = 0;  // finished
  std::chrono::steady_clock::time_point last_end;
  std::chrono::steady_clock::duration last_duration{0};
  bool wanted = false;
  std::optional<std::int64_t> told_since;  // by `wall_clock`; absent: nobody was told before the first walk
  std::vector<stretch> to_mend;            // in `latest`, in no order
  bool mends = false;                      // what is to be mended is wanted now
  bool is_walking = false;                 // something, or all, is being walked
  bool has_failed = false;                 // the last walk
  bool has_missed = false;                 // something in `latest`, since a disk failed
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
  /// Logs why a pass has failed, if there is memory for that.
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

  /// Under the lock: everything is to be walked.
  void want_walk() {
    stirs->fetch_add(1);
    wanted = true;
  }
  /// Under the lock: whether there is a whole listing, and nothing known that is not in it.
  [[nodiscard]] bool is_at_rest() const noexcept {
    return latest && !growing && !wanted && !mends && !is_walking && !has_failed && !has_missed && to_mend.empty();
  }
  void start(const std::shared_ptr<state>& self);
  // The first pass:
  void run_walks();
  void walk_once(std::unique_lock<std::mutex>& lock);
  /// The folder that had changed last. `misses`: whether a disk failed on the way.
  [[nodiscard]] disk::stamp walk_all(listing& into, bool& misses);
  void mend_once(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] gatherer::ears ears_of_walk();
  // The second:
  void run_descriptions();
  void describe_next(std::unique_lock<std::mutex>& lock);
  void skip(const block& what);
  bool has_work() const;
  std::shared_ptr<block> next_block();
};

}  // namespace hondana::files
