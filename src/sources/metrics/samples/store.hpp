/// The embedded store of time series: one SQLite file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::samples {

struct store_options {
  std::string path{};  ///< Absolute path. Its folder is created with access for this user only. Empty: in memory.
  series::duration retention = 15LL * 86'400'000;          ///< Of original samples.
  series::duration coarse_retention = 400LL * 86'400'000;  ///< Of down-sampled samples.
  series::duration coarse_step = 300'000;                  ///< Of down-sampled samples.
  std::uint64_t max_bytes = 4ull << 30;                    ///< Of the file. The oldest samples are deleted first.
  std::size_t max_series = 1'000'000;                      ///< That have samples within the retention.
  std::size_t max_memory_bytes = 256u << 20;               ///< Of samples not yet written as chunks.
  /// A power cut can lose samples of this time. A crash of the process loses none.
  std::chrono::milliseconds sync_interval{1000};
  series::duration max_ahead = 600'000;         ///< Samples further in the future are ignored.
  std::function<void(std::string_view)> log{};  ///< May be empty. Called on any thread.
  std::function<series::instant()> clock{};     ///< For tests. Empty: the system clock.
};

/// The result of one scrape. It is stored as a whole or not at all.
struct batch {
  struct entry {
    series::identity identity{};
    series::sample sample{};
  };
  std::vector<entry> entries{};
  std::map<std::string, series::metadata, std::less<>> families{};
};

/// How many samples of a batch were stored or ignored.
struct append_result {
  std::size_t stored = 0;
  std::size_t out_of_order = 0;   ///< Not newer than the last sample of their series: ignored, as in Prometheus.
  std::size_t too_far_ahead = 0;  ///< Beyond `max_ahead`: ignored, as in Prometheus.
  std::size_t over_limit = 0;     ///< Ignored: of new series beyond `max_series`, or with more than 1000 labels or 64 KiB.
};

/// Limits of one query.
struct query_limits {
  std::size_t max_series = 1000;
  std::size_t max_samples = 2'000'000;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop{};
};

/// Statistics of a store.
struct statistics {
  std::uint64_t series = 0, samples = 0, bytes = 0;  ///< Bytes on disk, including the write-ahead log.
  std::uint64_t memory_bytes = 0;                    ///< Bytes of samples not yet written as chunks.
  std::optional<series::instant> oldest{}, newest{};
};

/// A time-series store in an SQLite file. Threads: any. Writers wait for each other. Readers wait only for their own disk
/// accesses, and while a batch is copied into memory (about 50 ns per sample). A file can be open in one store of one process
/// only; a second `open` fails.
///
/// A batch is stored as a whole or not at all, even after kill -9. A batch that `append` has confirmed survives a crash of the
/// process. A power cut can lose the batches of the last `sync_interval`. A thread of the store syncs, writes chunks and
/// deletes expired samples, also in memory. Writers wait for it at most about 10 ms.
///
/// Retention counts from the newest sample, or from the current time if that is earlier, so that a machine that was off for
/// long loses nothing. A newest sample that is more than a day ahead of all earlier ones counts only after ten minutes, so that
/// a wrong clock deletes nothing. After the clock was ahead and is corrected, samples are accepted even if their series has
/// later ones. Reads return both, in order of time.
///
/// Memory: about 300 bytes per series, each distinct text once, and `max_memory_bytes` for samples. When this limit is reached,
/// chunks are written early. If the disk refuses that, batches are rejected.
class store {
 public:
  /// Opens or creates a store, with folders of mode 0700 and a file of mode 0600. Moves a damaged file aside as
  /// `<name>.damaged-<seconds since 1970>`, logs this, and starts a new file. In an intact file, removes samples that earlier
  /// reads found invalid, and logs this too.
  /// Errors: source_unavailable if the file or its folder is not accessible, is in use by another process, was written by a
  /// newer version, or is not a store. The text names the path and the remedy.
  [[nodiscard]] static result<std::unique_ptr<store>> open(store_options options);
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  /// Errors: source_unavailable if the disk is full or fails. Nothing of the batch is stored then. Later batches may succeed.
  [[nodiscard]] result<append_result> append(const batch& batch);
  /// Writes all samples in memory as chunks, and deletes expired samples as of `now`. The store's thread does the same when it
  /// is due. Errors: source_unavailable.
  [[nodiscard]] result<void> compact(series::instant now);

  /// The series with samples within `[start, end]`, in order of identity. Original samples are returned while they exist, else
  /// down-sampled ones. Of a gauge, these are the means of steps. Of a counter, they are the last sample of each step and the
  /// two next to each reset, so that the total increase is the same. Stale markers stay.
  /// A batch that is appended meanwhile is not included, unless the clock has just been set back.
  /// Errors: response_too_large, with the number of series or samples and the limit. timed_out. cancelled. source_unavailable.
  [[nodiscard]] result<std::vector<series::time_series>> read(const series::selector& selector, series::instant start,
                                                              series::instant end, const query_limits& limits) const;
  /// The latest sample of each series not older than `start`. It may be a stale marker. Errors: as `read`.
  [[nodiscard]] result<std::vector<series::time_series>> last(const series::selector& selector, series::instant start,
                                                              const query_limits& limits) const;
  /// Names of metrics with this prefix and with samples since `start`, in order.
  [[nodiscard]] std::vector<std::string> metric_names(std::string_view prefix, series::instant start,
                                                      std::size_t max_count) const;
  /// Label names of the series that match, in order.
  [[nodiscard]] std::vector<std::string> label_names(const series::selector& selector, std::size_t max_count) const;
  /// Values of a label with this prefix, in order.
  [[nodiscard]] std::vector<std::string> label_values(const series::selector& selector, std::string_view label,
                                                      std::string_view prefix, std::size_t max_count) const;
  /// The metadata of a family or a metric.
  [[nodiscard]] std::optional<series::metadata> find_metadata(std::string_view name) const;
  [[nodiscard]] samples::statistics statistics() const;

 private:
  struct state;
  explicit store(std::unique_ptr<state> new_state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::samples
