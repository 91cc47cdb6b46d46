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
class ticket_mutex {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const auto ticket = next_ticket_++;
    changed_.wait(lock, [&] { return serving_ == ticket; });
  }
  void unlock() {
    const std::lock_guard lock(mutex_);
    ++serving_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ticket_ = 0, serving_ = 0;
};

/// A lock for many readers or one writer. New readers wait behind a waiting writer.
class fair_shared_mutex {
 public:
  void lock() {
    const std::lock_guard gate_lock(gate_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    const std::lock_guard gate_lock(gate_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex gate_;
  std::shared_mutex mutex_;
};

/// The name of a store in errors.
inline constexpr std::string_view store_description = "metrics store";

/// Returns the schema and the settings of a store's file.
[[nodiscard]] const sqlite::file_kind& store_file_kind() noexcept;

inline constexpr series::instant min_instant = std::numeric_limits<series::instant>::min();
inline constexpr series::instant max_instant = std::numeric_limits<series::instant>::max();

/// The longest time span of a chunk of original samples, in milliseconds.
inline constexpr series::duration max_chunk_duration = 86'400'000;

/// Returns `a - b`, or `min_instant` if this is less. `b` must not be negative.
[[nodiscard]] constexpr series::instant subtract_clamped(series::instant a, series::duration b) noexcept {
  return a < min_instant + b ? min_instant : a - b;
}
/// Returns `a + b`, or `max_instant` if this is greater. `b` must not be negative.
[[nodiscard]] constexpr series::instant add_clamped(series::instant a, series::duration b) noexcept {
  return a > max_instant - b ? max_instant : a + b;
}

/// A head, and the rows of the table `tail` with its first and its last sample.
struct head_entry {
  head samples{};
  std::uint64_t first_batch = 0, last_batch = 0;
};

/// The in-memory state of a series.
struct series_state {
  std::int64_t id = 0;
  series::instant first = max_instant, last = min_instant;  ///< Of all its samples. The first may have been deleted.
  series::instant newest = min_instant;                     ///< Time of the sample that arrived last.
  std::unique_ptr<head_entry> open_head{};                  ///< Receives new samples. Null: there is none.
  bool is_written = false;                                  ///< Whether the table `series` has this series.
  bool may_overlap = false;                                 ///< The clock was set back, so its chunks may overlap.
};

struct store::state {
  explicit state(store_options initial_options);
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();

  // Opening (store.cpp).
  /// Reads the series, metadata and `tail` of the file into memory.
  [[nodiscard]] result<void> load();
  /// Prepares the statements. Must be called before all other functions.
  [[nodiscard]] result<void> prepare();
  /// Deletes chunks that cannot be decoded, so that the rest of their series can be read.
  [[nodiscard]] result<void> drop_corrupt_chunks();

  // Writing (store.cpp).
  [[nodiscard]] result<append_result> append(const batch& batch);
  [[nodiscard]] series::instant now() const;
  // After the store was opened, the caller of the following four functions must hold `write_mutex` and `memory_mutex`.
  slot add_series(const series::identity& identity, std::int64_t id, bool is_written);
  /// Adds a row to `tail_rows`.
  void begin_batch(std::uint64_t number, std::size_t bytes);
  /// Adds a sample of the row `batch` to the open head of its series. Closes the head if it is full.
  void add_sample(slot slot_index, series::sample sample, std::uint64_t batch);
  /// Moves the open head of a series to `closed_heads`, if there is one.
  void close_head(slot slot_index);
  /// If the memory limit is reached, writes chunks. The caller must hold no mutex.
  [[nodiscard]] result<void> ensure_capacity();
  // Steps of `append`. The caller must hold `write_mutex`.
  struct append_state;
  /// Finds the series of the batch, and adds new ones.
  void find_slots(const batch& batch, append_state& pending);
  /// Chooses the samples to store.
  void accept(const batch& batch, append_state& pending);
  /// Writes the batch to the file.
  [[nodiscard]] result<void> write(const batch& batch, append_state& pending);

  // Compaction (store_maintenance.cpp). The caller must hold `compaction_mutex`, except of `start` and `run_maintenance`.
  /// Does all work that is due at the time `time`. `is_all`: also work that is not due yet.
  [[nodiscard]] result<void> compact(series::instant time, bool is_all);
  /// Closes heads that cover a long time. Closes more heads if memory is low or `tail` is large; all of them if `is_all`.
  void close_due_heads(bool is_all);
  /// Removes heads whose samples are in chunks.
  void remove_written(const std::vector<std::pair<slot, std::shared_ptr<const head_entry>>>& flushed);
  /// Deletes the rows of `tail` whose samples are all in chunks.
  [[nodiscard]] result<void> drop_tail();
  /// Writes all closed heads as chunks, and then calls `drop_tail`.
  [[nodiscard]] result<void> flush_all();
  /// Writes some closed heads as chunks. Returns false if there were none.
  [[nodiscard]] result<bool> flush_batch();
  /// Down-samples and deletes samples by their age at the time `time`, and by `max_bytes`.
  [[nodiscard]] result<void> expire(series::instant time);
  /// Down-samples some chunks that end before `raw_cutoff`, or deletes some down-sampled ones that end before `coarse_cutoff`.
  /// Returns whether there may be more.
  [[nodiscard]] result<bool> expire_batch(series::instant raw_cutoff, series::instant coarse_cutoff);
  /// Replaces chunks of a series that end before `cutoff` by down-sampled ones. Adds the change of the number of samples to
  /// `change`.
  [[nodiscard]] result<void> downsample_series(std::int64_t id, series::instant cutoff, std::int64_t& change);
  /// Deletes some of the oldest chunks if the file is too large. Returns whether it deleted any.
  [[nodiscard]] result<bool> trim_batch();
  /// Removes series without samples since `cutoff`.
  [[nodiscard]] result<void> remove_expired_series(series::instant cutoff);
  /// Returns free pages of the file to the file system.
  [[nodiscard]] result<void> shrink();
  /// Empties SQLite's write-ahead log if it is large or `is_forced`.
  [[nodiscard]] result<void> checkpoint(bool is_forced);
  /// Returns the time from which retention counts; `min_instant`: there are no samples. Does not trust a time that is more than
  /// a day ahead of earlier ones until ten minutes have passed.
  [[nodiscard]] series::instant update_trusted_newest(series::instant time);
  [[nodiscard]] bool is_counter(slot slot_index) const;
  /// Starts the background thread.
  void start();
  /// Calls `compact`, and turns exceptions into errors.
  [[nodiscard]] result<void> compact_safely();
  void run_maintenance(const std::stop_token& stop);
  void write_log(const std::string& line) const;

  // Reading (store_read.cpp).
  struct reader;
  class reader_lease;
  [[nodiscard]] result<std::unique_ptr<reader>> new_reader() const;

  store_options options;
  bool is_in_memory = false;

  // Lock order: `compaction_mutex`, `write_mutex`, `memory_mutex`. `memory_mutex` is never held during disk access.
  mutable std::mutex compaction_mutex;
  mutable ticket_mutex write_mutex;
  mutable fair_shared_mutex memory_mutex;

  // Guarded by `memory_mutex`. Changes also require `write_mutex`, so a holder of `write_mutex` can read without
  // `memory_mutex`.
  series_index index;
  std::vector<series_state> series_states{};
  /// Full heads that are not in chunks yet, oldest first.
  std::unordered_map<slot, std::vector<std::shared_ptr<const head_entry>>> closed_heads{};
  std::deque<slot> flush_queue{};  ///< Slots with closed heads, oldest head first. A slot occurs once per closed head.
  struct tail_row_info {
    std::uint32_t head_count = 0;  ///< Heads that begin in this row.
    std::uint32_t bytes = 0;
  };
  std::deque<tail_row_info> tail_rows{};  ///< The rows of `tail` from `first_tail_row` on.
  std::uint64_t first_tail_row = 1;
  std::uint64_t tail_bytes = 0;          ///< Of all `tail_rows`.
  std::uint64_t next_batch = 1;          ///< Number of the next row of `tail`.
  std::int64_t next_id = 1;              ///< ID of the next new series.
  series::instant newest = min_instant;  ///< Time of the latest sample.
  std::uint64_t in_memory_samples = 0;
  std::map<std::string, series::metadata, std::less<>> families{};
  std::atomic<std::size_t> memory_used{0};  ///< Bytes of all heads.

  // Guarded by `write_mutex`.
  mutable sqlite::owned_file file{};
  sqlite::statement insert_series{}, insert_tail{}, insert_family{}, insert_chunk{}, insert_coarse{}, upsert_ends{},
      add_total{}, delete_tail{}, delete_chunk{}, delete_coarse{};
  /// For each slot, the time of the last accepted sample, including the batch being written.
  std::vector<series::instant> last_accepted{};
  std::uint64_t tail_start = 1;                ///< Earlier rows of `tail` are deleted.
  std::atomic<std::int64_t> chunk_samples{0};  ///< Number of samples in chunks, also down-sampled ones.
  std::atomic<bool> has_coarse{false};         ///< There may be down-sampled samples.

  // Readers that no call uses.
  mutable std::mutex idle_mutex;
  mutable std::vector<std::unique_ptr<reader>> idle_readers;

  // The background thread.
  std::mutex wakeup_mutex;
  std::condition_variable_any wakeup;
  disk::handle log_file{};               ///< SQLite's write-ahead log, for syncing.
  std::atomic<bool> is_unsynced{false};  ///< The log was written since the last sync.
  std::atomic<bool> is_urgent{false};    ///< A writer waits for memory: long work is interrupted.
  std::atomic<bool> is_closing{false};   ///< Shutdown: samples not yet in chunks stay in the tail.
  std::chrono::steady_clock::time_point last_sweep{}, last_expiry{};
  series::instant trusted_newest = min_instant, doubtful_newest = min_instant;  ///< See `update_trusted_newest`.
  std::chrono::steady_clock::time_point doubtful_since{};
  std::string last_logged{};
  std::jthread maintenance_thread{};
};

/// Prepared statements of a connection that only reads.
struct store::state::reader {
  sqlite::connection connection{};
  sqlite::statement chunks{}, coarse{}, chunk_start{}, coarse_start{}, last_chunk{}, last_coarse{};
  [[nodiscard]] result<void> prepare(sqlite::connection& database);
};

/// Borrows a reader, and returns it at the end. For stores in memory, the reader uses the only connection, and the lease holds
/// `write_mutex`.
class store::state::reader_lease {
 public:
  [[nodiscard]] static result<reader_lease> acquire(const state& owner);
  reader_lease(reader_lease&& other) noexcept = default;
  reader_lease& operator=(reader_lease&&) = delete;
  ~reader_lease();
  [[nodiscard]] reader& operator*() const noexcept { return *reader_; }
  [[nodiscard]] reader* operator->() const noexcept { return reader_.get(); }

 private:
  reader_lease(const state& owner, std::unique_ptr<reader> reader, std::unique_lock<ticket_mutex> lock) noexcept
      : owner_(&owner), lock_(std::move(lock)), reader_(std::move(reader)) {}
  const state* owner_;
  std::unique_lock<ticket_mutex> lock_;
  std::unique_ptr<reader> reader_;
};

}  // namespace hondana::samples
