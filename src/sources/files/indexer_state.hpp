/// What the two passes of an indexer share with those who ask.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/executor/without_throwing.hpp"
#include "os/disk/stamp.hpp"
#include "sources/files/gatherer.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/mending.hpp"

namespace hondana::files {

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
