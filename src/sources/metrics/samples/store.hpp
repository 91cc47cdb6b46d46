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
  std::string path{};                              ///< Absolute; its folder is made, for this user alone. Empty: in memory.
  series::duration retention = 15LL * 86'400'000;  ///< Of samples as they came.
  series::duration coarse_retention = 400LL * 86'400'000;  ///< Of what they are down-sampled to.
  series::duration coarse_step = 300'000;                  ///< Of that.
  std::uint64_t most_bytes = 4ull << 30;                   ///< Of the file; the oldest goes first.
  std::size_t most_series = 1'000'000;                     ///< That have samples within the retention.
  std::size_t most_memory = 256u << 20;                    ///< Of what is not in its final form yet.
  std::chrono::milliseconds sync_every{1000};   ///< What is younger may be lost with the power, but not with the process.
  series::duration most_ahead = 600'000;        ///< Samples further in the future than this are left out.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
  std::function<series::instant()> clock{};     ///< For tests; empty: the system's.
};

/// What came of one scrape: all of it is kept or none.
struct batch {
  struct entry {
    series::identity of{};
    series::sample what{};
  };
  std::vector<entry> entries{};
  std::map<std::string, series::metadata, std::less<>> families{};
};

struct appended {
  std::size_t kept = 0;
  std::size_t out_of_order = 0;  ///< Not younger than the last of their series: left out, as by Prometheus.
  std::size_t too_far = 0;       ///< Beyond `most_ahead`: left out, as by Prometheus.
  std::size_t too_many = 0;      ///< Of new series beyond `most_series`, or with more than 1000 labels or 64 KiB: left out.
};

/// What a look at the store may take.
struct budget {
  std::size_t series = 1000;
  std::size_t samples = 2'000'000;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::stop_token stop{};
};

struct facts {
  std::uint64_t series = 0, samples = 0, bytes = 0;  ///< Bytes: on disk, with the log that is not in the file yet.
  std::uint64_t memory = 0;                          ///< Bytes of samples that are not in their final form.
  std::optional<series::instant> oldest{}, newest{};
};

/// Threads: any. Writers wait for each other; readers wait for no disk but their own, and for the memory of a batch being taken
/// over (some 50 ns a sample). Two processes, and two stores of one process, cannot have one file: the second is refused.
///
/// kill -9 at any moment leaves whole batches, and all that `append` has said are kept; a power cut may take those of the last
/// `sync_every`. A thread of the store syncs, brings samples to their final form and takes away what is over, in memory, too;
/// no writer waits for it longer than some 10 ms.
///
/// Retention counts from the newest sample, or from now where that is earlier: a machine that was off for long forgets nothing
/// for it. The thread does not believe a newest sample that is more than a day beyond all before until ten minutes have passed,
/// so that a clock gone wrong takes nothing away. Where the clock was ahead and is right again, samples are taken although
/// their series has later ones; reads have both, in the order of instants.
///
/// Memory: about 300 bytes for a series and what its texts take, once; besides, `most_memory`. What does not fit is brought to
/// its final form sooner; where the disk refuses that, batches are refused.
class store {
 public:
  /// Makes what is missing: folders of mode 0700, the file of mode 0600. A damaged file is moved aside, as
  /// `<name>.damaged-<seconds since 1970>`, said to the log, and a new one is begun. Where the file is good and reading has met
  /// samples in it that are none, these are taken out, which is said, too.
  ///
  /// Errors: source_unavailable for a folder or file that cannot be had, is another process', was written by a newer version or
  /// is no store (the text names the path and what to do).
  [[nodiscard]] static result<std::unique_ptr<store>> open(store_options options);
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  /// Errors: source_unavailable when the disk is full or fails; nothing of the batch is kept then, and later ones may be.
  [[nodiscard]] result<appended> append(const batch& what);
  /// Everything that is in memory goes to its final form, and what is over goes, with `now` for now. The thread of the store
  /// does as much by itself when it is due. Errors: source_unavailable.
  [[nodiscard]] result<void> settle(series::instant now);

  /// Series with samples within `[from, to]`, in order of identity, with raw samples where they still are, and otherwise the
  /// down-sampled: of a gauge the mean of each step; of a counter the last of each step and the two beside each reset, so that
  /// it rises as it did. Stale markers stay. Of a batch that comes meanwhile there is nothing, unless the clock has just gone
  /// back. Errors: response_too_large, naming how many there are and what the budget is; timed_out; cancelled;
  /// source_unavailable.
  [[nodiscard]] result<std::vector<series::points>> read(const series::selector& which, series::instant from,
                                                         series::instant to, const budget& within) const;
  /// The sample of each series that came last, not older than `from`, be it a stale marker. Errors: as `read`.
  [[nodiscard]] result<std::vector<series::points>> last(const series::selector& which, series::instant from,
                                                         const budget& within) const;
  /// Names of metrics that begin so, in order, with samples since `from`.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix, series::instant from, std::size_t most) const;
  /// Label names of the series that all matchers admit, in order.
  [[nodiscard]] std::vector<std::string> label_names(const series::selector& which, std::size_t most) const;
  /// Values of a label that begin so, in order.
  [[nodiscard]] std::vector<std::string> label_values(const series::selector& which, std::string_view label,
                                                      std::string_view prefix, std::size_t most) const;
  /// Of the family, or the metric of that name.
  [[nodiscard]] std::optional<series::metadata> metadata_of(std::string_view name) const;
  [[nodiscard]] samples::facts facts() const;

 private:
  struct state;
  explicit store(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::samples
