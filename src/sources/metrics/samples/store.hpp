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

/// Options and limits of a store.
struct store_options {
  std::string path{};  ///< Absolute path. Its folder is created with access for this user only. Empty: in memory.
  series::duration retention = 15LL * 86'400'000;          ///< How long original samples stay.
  series::duration coarse_retention = 400LL * 86'400'000;  ///< How long down-sampled ones stay. Up to `retention`: none.
  series::duration coarse_step = 300'000;                  ///< Step of down-sampled samples.
  std::uint64_t max_bytes = 4ull << 30;                    ///< Of the file. The oldest samples are deleted first.
  std::size_t max_series = 1'000'000;                      ///< Samples of further new series are ignored.
  std::size_t max_memory_bytes = 256u << 20;               ///< Of samples that are not in chunks yet.
  std::chrono::milliseconds sync_interval{1000};           ///< Time between syncs to the disk.
  series::duration max_ahead = 600'000;                    ///< Samples further in the future are ignored.
  std::function<void(std::string_view)> log{};             ///< May be empty. Called on any thread.
  std::function<series::instant()> clock{};                ///< For tests. Empty: the system clock.
};

/// Samples that are stored together, such as those of one scrape.
struct batch {
  struct entry {
    series::identity identity{};
    series::sample sample{};
  };
  std::vector<entry> entries{};
  std::map<std::string, series::metadata, std::less<>> families{};  ///< Metadata by family.
};

/// How many samples of a batch were stored, and how many were ignored for each reason.
struct append_result {
  std::size_t stored = 0;
  std::size_t out_of_order = 0;   ///< Not newer than the last sample of their series.
  std::size_t too_far_ahead = 0;  ///< Later than `max_ahead` from now.
  std::size_t over_limit = 0;     ///< Of new series beyond `max_series`, or with more than 1000 labels or 64 KiB.
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
  std::uint64_t series = 0, samples = 0, bytes = 0;   ///< `bytes`: on disk, including the write-ahead log.
  std::uint64_t memory_bytes = 0;                     ///< Of samples that are not in chunks yet.
  std::optional<series::instant> oldest{}, newest{};  ///< Times of samples. The oldest may have been deleted.
};

/// A time-series store in an SQLite file. Threads: any. Writers wait for each other. Readers wait only for their own disk
/// accesses, and while a batch is copied into memory (about 50 ns per sample). A file can be open in one store of one process
/// only; a second `open` fails.
///
/// The accepted samples of a batch are stored all together or not at all, even after kill -9. A batch that `append` has
/// confirmed survives a crash of the process. A power cut can lose the batches of the last `sync_interval`. New samples are
/// first in memory and in the table `tail`. A thread of the store moves them into compressed chunks, deletes expired samples,
/// and syncs. Writers wait for it at most about 10 ms.
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

  /// Stores a batch. After an error, nothing of it is stored; later batches may succeed. Errors: source_unavailable if the disk
  /// is full or fails; overloaded if samples cannot be moved out of memory.
  [[nodiscard]] result<append_result> append(const batch& batch);
  /// Writes all samples in memory as chunks, and deletes samples that are expired at the time `now`. The store's thread does
  /// the same when it is due. Errors: source_unavailable.
  [[nodiscard]] result<void> compact(series::instant now);

  /// Reads the series with samples within `[start, end]`, in order of identity. Returns original samples while they exist, else
  /// down-sampled ones (see `downsample`), with stale markers.
  /// A batch that is appended meanwhile is not included, unless the clock has just been set back.
  /// Errors: response_too_large, with the number of series or samples and the limit. timed_out. cancelled. source_unavailable.
  [[nodiscard]] result<std::vector<series::time_series>> read(const series::selector& selector, series::instant start,
                                                              series::instant end, const query_limits& limits) const;
  /// Reads the latest sample of each matching series, unless it is older than `start`. It may be a stale marker. Errors: as
  /// `read`.
  [[nodiscard]] result<std::vector<series::time_series>> last(const series::selector& selector, series::instant start,
                                                              const query_limits& limits) const;
  /// Returns the first `max_count` names of metrics with this prefix and with samples since `start`, in order.
  [[nodiscard]] std::vector<std::string> metric_names(std::string_view prefix, series::instant start,
                                                      std::size_t max_count) const;
  /// Returns the first `max_count` label names of the matching series, in order. If `selector` has matchers, searches for at
  /// most a second, so some may be missing.
  [[nodiscard]] std::vector<std::string> label_names(const series::selector& selector, std::size_t max_count) const;
  /// Returns the first `max_count` values of a label that begin with `prefix`, in order. Searches as `label_names` does.
  [[nodiscard]] std::vector<std::string> label_values(const series::selector& selector, std::string_view label,
                                                      std::string_view prefix, std::size_t max_count) const;
  /// Returns the metadata of a family, by its name or that of one of its series; nullopt: unknown.
  [[nodiscard]] std::optional<series::metadata> find_metadata(std::string_view name) const;
  [[nodiscard]] samples::statistics statistics() const;

 private:
  struct state;
  explicit store(std::unique_ptr<state> new_state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::samples
