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

/// Whoever comes first is first.
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

/// Many readers or one writer; readers do not overtake a writer that waits.
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

/// In errors.
inline constexpr std::string_view what_it_is = "metrics store";

[[nodiscard]] const sqlite::file_kind& kind_of_file() noexcept;

inline constexpr series::instant never_before = std::numeric_limits<series::instant>::min();
inline constexpr series::instant never_after = std::numeric_limits<series::instant>::max();

/// No chunk spans more, but for those that are down-sampled.
inline constexpr series::duration longest_chunk = 86'400'000;

/// `a - b` without going beyond what an instant can be.
[[nodiscard]] constexpr series::instant before(series::instant a, series::duration b) noexcept {
  return a < never_before + b ? never_before : a - b;
}
[[nodiscard]] constexpr series::instant after(series::instant a, series::duration b) noexcept {
  return a > never_after - b ? never_after : a + b;
}

/// A head, and the rows of `tail` that its first and its last sample stand in.
struct growing {
  head samples{};
  std::uint64_t first_batch = 0, last_batch = 0;
};

struct stream {
  std::int64_t id = 0;
  series::instant first = never_after, last = never_before;  ///< Of all its samples; `first` may have gone already.
  series::instant newest = never_before;                     ///< Of the sample that came last.
  std::unique_ptr<growing> open{};
  bool is_written = false;  ///< Whether its row is in the file.
  bool is_turned = false;   ///< The clock has gone back meanwhile, so that its chunks may overlap.
};

struct store::state {
  explicit state(store_options given);
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();

  // Opening (store.cpp).
  [[nodiscard]] result<void> load();
  [[nodiscard]] result<void> prepare();
  /// Takes out what is no chunk, so that the others of its series can be read.
  [[nodiscard]] result<void> drop_unreadable();

  // Writing (store.cpp).
  [[nodiscard]] result<appended> append(const batch& what);
  [[nodiscard]] series::instant now() const;
  /// The caller holds `writing` and, for the memory, `memory`.
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
  [[nodiscard]] result<bool> flush_some();  ///< False: nothing was left.
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

  // Order of locks: settling, writing, memory. `memory` is held for memory alone, never for the disk.
  mutable std::mutex settling;
  mutable turns writing;
  mutable fair_lock memory;

  // Of `memory`; changed by who holds `writing` as well, and so read without `memory` by who holds `writing`.
  index names;
  std::vector<stream> streams{};
  std::unordered_map<slot, std::vector<std::shared_ptr<const growing>>> closed{};
  std::deque<slot> full{};  ///< Those with closed heads, the oldest first; a slot stands there as often as it has some.
  struct tail_row_facts {
    std::uint32_t heads = 0;  ///< That begin there.
    std::uint32_t bytes = 0;
  };
  std::deque<tail_row_facts> waiting{};  ///< Of rows of `tail` from `first_waiting` on.
  std::uint64_t first_waiting = 1;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t next_batch = 1;
  std::int64_t next_id = 1;
  series::instant newest = never_before;
  std::uint64_t in_memory_samples = 0;
  std::map<std::string, series::metadata, std::less<>> families{};
  std::atomic<std::size_t> memory_used{0};

  // Of `writing`.
  mutable sqlite::owned_file file{};
  sqlite::statement insert_series{}, insert_tail{}, insert_family{}, insert_chunk{}, insert_coarse{}, upsert_ends{},
      add_total{}, delete_tail{}, delete_chunk{}, delete_coarse{};
  std::vector<series::instant> accepted{};  ///< Of each slot: of what has been accepted last, in the batch being written, too.
  std::uint64_t first_in_tail = 1;          ///< Rows of `tail` before this are gone.
  std::atomic<std::int64_t> settled_samples{0};
  std::atomic<bool> has_coarse{false};

  // Readers that nobody uses.
  mutable std::mutex idle_mutex;
  mutable std::vector<std::unique_ptr<reader>> idle;

  // The thread.
  std::mutex kept;
  std::condition_variable_any wake;
  disk::handle log_file{};  ///< SQLite's log of writes, for syncing.
  std::atomic<bool> is_unsynced{false};
  std::atomic<bool> is_urgent{false};   ///< Somebody waits for room in memory: what takes long gives way.
  std::atomic<bool> is_closing{false};  ///< The tail keeps the rest.
  std::chrono::steady_clock::time_point swept{}, expired{};
  series::instant believed = never_before, doubted = never_before;
  std::chrono::steady_clock::time_point doubted_since{};
  std::string last_said{};
  std::jthread keeper{};
};

/// Prepared statements of one connection that only reads.
struct store::state::reader {
  sqlite::connection own{};
  sqlite::statement chunks{}, coarse{}, chunk_start{}, coarse_start{}, last_chunk{}, last_coarse{};
  [[nodiscard]] result<void> prepare(sqlite::connection& on);
};

/// A reader for as long as it lives; in memory there is but the writer's connection, and so this waits for writers.
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
