/// The state of an open store: memory, locks, prepared statements and the background thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "os/sqlite/database_file.hpp"
#include "os/sqlite/sqlite.hpp"
#include "sources/metrics/samples/sample_encoding.hpp"
#include "sources/metrics/samples/series_index.hpp"
#include "sources/metrics/samples/store.hpp"

namespace hondana::samples {

/// A mutex that is granted in the order of requests.
class turns {
 public:
  void lock() {
    std::unique_lock held(mutex_);
    const auto mine = next_++;
    turned_.wait(held, [&] { return serving_ == mine; });
  }
  void unlock() {
    const std::lock_guard held(mutex_);
    ++serving_;
    turned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::uint64_t next_ = 0, serving_ = 0;
};

/// A lock for many readers or one writer. New readers wait behind a waiting writer.
class fair_lock {
 public:
  void lock() {
    const std::lock_guard entered(entry_);
    body_.lock();
  }
  void unlock() { body_.unlock(); }
  void lock_shared() {
    const std::lock_guard entered(entry_);
    body_.lock_shared();
  }
  void unlock_shared() { body_.unlock_shared(); }

 private:
  std::mutex entry_;
  std::shared_mutex body_;
};

/// The name used in errors.
inline constexpr std::string_view what_it_is = "metrics store";

[[nodiscard]] const sqlite::file_kind& kind_of_file() noexcept;

inline constexpr series::instant never_before = std::numeric_limits<series::instant>::min();
inline constexpr series::instant never_after = std::numeric_limits<series::instant>::max();

/// The longest time span of a chunk, except for down-sampled ones.
inline constexpr series::duration longest_chunk = 86'400'000;

/// `a - b`, limited to the range of an instant.
[[nodiscard]] constexpr series::instant before(series::instant a, series::duration b) noexcept {
  return a < never_before + b ? never_before : a - b;
}
[[nodiscard]] constexpr series::instant after(series::instant a, series::duration b) noexcept {
  return a > never_after - b ? never_after : a + b;
}

/// A head, and the rows of `tail` with its first and its last sample.
struct growing {
  head samples{};
  std::uint64_t first_batch = 0, last_batch = 0;
};

/// The in-memory state of a series.
struct stream {
  std::int64_t id = 0;
  series::instant first = never_after, last = never_before;  ///< Of all its samples. The first may have been deleted.
  series::instant newest = never_before;                     ///< Time of the sample that arrived last.
  std::unique_ptr<growing> open{};
  bool is_written = false;  ///< Whether the row of this series is in the file.
  bool is_turned = false;   ///< The clock was set back, so its chunks may overlap.
};

struct store::state {
  explicit state(store_options given);
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();

  // Opening (store.cpp).
  [[nodiscard]] result<void> load();
  [[nodiscard]] result<void> prepare();
  /// Deletes chunks that cannot be decoded, so that the rest of their series can be read.
  [[nodiscard]] result<void> drop_unreadable();

  // Writing (store.cpp).
  [[nodiscard]] result<appended> append(const batch& what);
  [[nodiscard]] series::instant now() const;
  /// The caller holds `writing`, and `memory` while it changes memory.
  slot slot_of_new(const series::identity& of, std::int64_t id, bool is_written);
  void begin_batch(std::uint64_t number, std::size_t bytes);
  void take(slot at, series::sample what, std::uint64_t batch);
  void close_head(slot at);
  [[nodiscard]] result<void> make_room();
  struct writing_of;
  void find_slots(const batch& what, writing_of& into);
  void accept(const batch& what, writing_of& into);
  [[nodiscard]] result<void> write(const batch& what, writing_of& what_of);

  // Settling (store_maintenance.cpp). `settling` is held.
  [[nodiscard]] result<void> settle(series::instant at, bool is_all);
  void close_due(bool is_all);
  void written(const std::vector<std::pair<slot, std::shared_ptr<const growing>>>& what);
  [[nodiscard]] result<void> drop_tail();
  [[nodiscard]] result<void> flush_all();
  [[nodiscard]] result<bool> flush_some();  ///< Returns false if there was nothing to flush.
  [[nodiscard]] result<void> expire(series::instant at);
  [[nodiscard]] result<bool> expire_some(series::instant raw_cutoff, series::instant coarse_cutoff);
  [[nodiscard]] result<void> coarsen(std::int64_t id, series::instant cutoff, std::int64_t& change);
  [[nodiscard]] result<bool> trim_some();
  [[nodiscard]] result<void> forget_series(series::instant cutoff);
  [[nodiscard]] result<void> shrink();
  [[nodiscard]] result<void> checkpoint(bool is_forced);
  [[nodiscard]] series::instant newest_believed(series::instant at);
  [[nodiscard]] bool is_counter(slot at) const;
  void start();
  [[nodiscard]] result<void> settle_safely();
  void keep(const std::stop_token& stop);
  void say(const std::string& line) const;

  // Reading (store_read.cpp).
  struct reader;
  class lease;
  [[nodiscard]] result<std::unique_ptr<reader>> new_reader() const;

  store_options options;
  bool is_in_memory = false;

  // Lock order: settling, writing, memory. `memory` is never held during disk access.
  mutable std::mutex settling;
  mutable turns writing;
  mutable fair_lock memory;

  // Guarded by `memory`. Changes also require `writing`, so a holder of `writing` can read without `memory`.
  index names;
  std::vector<stream> streams{};
  std::unordered_map<slot, std::vector<std::shared_ptr<const growing>>> closed{};
  std::deque<slot> full{};  ///< Slots with closed heads, oldest head first. A slot occurs once per closed head.
  struct tail_row_facts {
    std::uint32_t heads = 0;  ///< Heads that begin in this row.
    std::uint32_t bytes = 0;
  };
  std::deque<tail_row_facts> waiting{};  ///< The rows of `tail` from `first_waiting` on.
  std::uint64_t first_waiting = 1;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t next_batch = 1;
  std::int64_t next_id = 1;
  series::instant newest = never_before;
  std::uint64_t in_memory_samples = 0;
  std::map<std::string, series::metadata, std::less<>> families{};
  std::atomic<std::size_t> memory_used{0};

  // Guarded by `writing`.
  mutable sqlite::owned_file file{};
  sqlite::statement insert_series{}, insert_tail{}, insert_family{}, insert_chunk{}, insert_coarse{}, upsert_ends{},
      add_total{}, delete_tail{}, delete_chunk{}, delete_coarse{};
  /// For each slot, the time of the last accepted sample, including the batch being written.
  std::vector<series::instant> accepted{};
  std::uint64_t first_in_tail = 1;  ///< Earlier rows of `tail` are deleted.
  std::atomic<std::int64_t> settled_samples{0};
  std::atomic<bool> has_coarse{false};

  // Idle readers.
  mutable std::mutex idle_mutex;
  mutable std::vector<std::unique_ptr<reader>> idle;

  // The background thread.
  std::mutex kept;
  std::condition_variable_any wake;
  disk::handle log_file{};  ///< SQLite's write-ahead log, for syncing.
  std::atomic<bool> is_unsynced{false};
  std::atomic<bool> is_urgent{false};   ///< A writer waits for memory: long work is interrupted.
  std::atomic<bool> is_closing{false};  ///< Shutdown: samples not yet in chunks stay in the tail.
  std::chrono::steady_clock::time_point swept{}, expired{};
  series::instant believed = never_before, doubted = never_before;
  std::chrono::steady_clock::time_point doubted_since{};
  std::string last_said{};
  std::jthread keeper{};
};

/// Prepared statements of a connection that only reads.
struct store::state::reader {
  sqlite::connection own{};
  sqlite::statement chunks{}, coarse{}, chunk_start{}, coarse_start{}, last_chunk{}, last_coarse{};
  [[nodiscard]] result<void> prepare(sqlite::connection& on);
};

/// Borrows a reader. For stores in memory, it uses the only connection and holds `writing`.
class store::state::lease {
 public:
  [[nodiscard]] static result<lease> take(const state& from);
  lease(lease&& other) noexcept = default;
  lease& operator=(lease&&) = delete;
  ~lease();
  [[nodiscard]] reader& operator*() const noexcept { return *what_; }
  [[nodiscard]] reader* operator->() const noexcept { return what_.get(); }

 private:
  lease(const state& from, std::unique_ptr<reader> what, std::unique_lock<turns> turn) noexcept
      : from_(&from), turn_(std::move(turn)), what_(std::move(what)) {}
  const state* from_;
  std::unique_lock<turns> turn_;
  std::unique_ptr<reader> what_;
};

}  // namespace hondana::samples
