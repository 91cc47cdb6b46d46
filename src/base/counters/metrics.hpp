/// Counters, gauges and histograms of this process, and the registry that collects them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::counters {

/// The type of a metric family, as in OpenMetrics. `info`: facts as labels, always with the value 1.
enum class kind : std::uint8_t { counter, gauge, histogram, info };

/// Describes a metric family: metrics with one name and different labels. All texts must live as long as the program.
struct metric_family {
  std::string_view name{};  ///< Without suffixes such as `_total`, `_bucket` and `_info`: "hondana_requests".
  counters::kind kind = counters::kind::counter;
  std::string_view unit{};  ///< "seconds", "bytes"; empty: no unit. The name must end with the unit.
  std::string_view help{};
};

struct label {
  std::string name{};
  std::string value{};
  bool operator==(const label&) const = default;
};

/// Receives all metrics from `registry::collect`, family by family.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;
  /// Begins a family. Its samples follow.
  virtual void family(const metric_family& metadata) = 0;
  /// Adds one sample to the family that began last.
  /// `suffix`: "_total" for counters; "_bucket", "_sum" and "_count" for histograms; "_info" for infos; empty for gauges.
  /// Buckets are cumulative and have the label `le`, their upper bound. That of the last bucket is "+Inf".
  virtual void sample(std::string_view suffix, std::span<const label> labels, double value) = 0;
};

class registry;

/// Supplies the samples of one metric family.
/// If several collectors report the same family and labels, such as two servers in one process, their values are added.
class collector {
 public:
  collector() = default;
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;
  virtual ~collector() = default;
  [[nodiscard]] virtual metric_family describe() const = 0;
  /// The arguments are those of `sink::sample`.
  using sample_callback = std::function<void(std::string_view suffix, std::span<const label> labels, double value)>;
  /// Calls `on_sample` for each current sample. Threads: any, several at once.
  virtual void collect(const sample_callback& on_sample) const = 0;
};

/// The registered collectors. Threads: any.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  /// The registry of this process.
  [[nodiscard]] static registry& global();

  /// Registers `collector` until its last owner releases it.
  void add(std::weak_ptr<const collector> collector);
  /// Writes all current samples to `target`, ordered by family name. Omits families without samples.
  /// Does not hold a lock while it calls the collectors.
  void collect(sink& target) const;

 private:
  mutable std::mutex mutex_;
  mutable std::list<std::weak_ptr<const collector>> collectors_;
};

/// Registers a collector whose samples come from the function `collect`. It stays registered while the caller owns the result.
[[nodiscard]] std::shared_ptr<const collector> register_collector(
    const metric_family& family, std::function<void(const collector::sample_callback&)> collect,
    registry& target = registry::global());

/// The number of threads that can add to `sharded_sums` without contention.
inline constexpr std::size_t shard_count = 8;

/// The shard of the calling thread, from 0 to `shard_count` - 1.
[[nodiscard]] inline std::size_t current_shard() noexcept {
  static std::atomic<std::size_t> last{0};
  static constinit thread_local std::size_t assigned = 0;  // the shard plus one; 0: not assigned yet
  if (assigned == 0) [[unlikely]]
    assigned = last.fetch_add(1, std::memory_order_relaxed) % shard_count + 1;
  return assigned - 1;
}

/// A fixed number of sums. Threads add to different copies of a sum, which `sum` adds up. Threads: any, without a lock.
class sharded_sums {
 public:
  explicit sharded_sums(std::size_t count)
      : count_(count),
        lines_((count + cells_per_line - 1) / cells_per_line),
        storage_(std::make_unique<cache_line[]>(lines_ * shard_count)) {}

  /// Adds `amount` to a sum. `index` must be less than `size()`. Sums wrap modulo 2^64: to subtract n, add its negative.
  void add(std::size_t index, std::uint64_t amount) noexcept {
    cell(current_shard(), index).fetch_add(amount, std::memory_order_relaxed);
  }
  /// Returns a sum. Of additions at the same time, it includes only some.
  [[nodiscard]] std::uint64_t sum(std::size_t index) const noexcept {
    std::uint64_t out = 0;
    for (std::size_t shard = 0; shard < shard_count; ++shard) out += cell(shard, index).load(std::memory_order_relaxed);
    return out;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::size_t cells_per_line = 8;
  struct alignas(64) cache_line {
    std::array<std::atomic<std::uint64_t>, cells_per_line> cells{};
  };
  [[nodiscard]] std::atomic<std::uint64_t>& cell(std::size_t shard, std::size_t index) const noexcept {
    return storage_[shard * lines_ + index / cells_per_line].cells[index % cells_per_line];
  }

  const std::size_t count_;
  const std::size_t lines_;
  const std::unique_ptr<cache_line[]> storage_;
};

/// A label and all of its possible values.
/// A series is one combination of values of all dimensions. Series are numbered from 0, and the last dimension changes first:
/// with dimensions a and b of two values each, series 1 is (a0, b1).
struct dimension {
  std::string name{};
  std::vector<std::string> values{};
};

/// The labels of series number `series`.
[[nodiscard]] std::vector<label> labels_at(const std::vector<dimension>& dimensions, std::size_t series);
/// The number of series: 1 without dimensions.
[[nodiscard]] std::size_t series_count(const std::vector<dimension>& dimensions) noexcept;

/// Counters or gauges of one family with fixed labels. Allocates all memory on construction. Threads: any, without a lock.
class counter_family final : public collector {
 public:
  /// Makes a family that is not registered.
  /// `scale`: the factor from stored amounts to the unit of the family, such as 1e-9 for nanoseconds in a family of seconds.
  counter_family(const metric_family& family, std::vector<dimension> dimensions, double scale = 1)
      : family_(family), dimensions_(std::move(dimensions)), scale_(scale), cells_(series_count(dimensions_)) {}
  /// Makes a family and registers it in `target`. It stays registered while the caller owns the result.
  [[nodiscard]] static std::shared_ptr<counter_family> make(const metric_family& family, std::vector<dimension> dimensions = {},
                                                            double scale = 1, registry& target = registry::global());

  void add(std::size_t series, std::uint64_t amount = 1) noexcept { cells_.add(series, amount); }
  /// For gauges.
  void subtract(std::size_t series, std::uint64_t amount = 1) noexcept { cells_.add(series, ~amount + 1); }
  /// The stored amount of a series, not scaled.
  [[nodiscard]] std::uint64_t sum(std::size_t series) const noexcept { return cells_.sum(series); }

  [[nodiscard]] metric_family describe() const override { return family_; }
  /// Reports the series, except those that have labels and the value 0.
  void collect(const sample_callback& on_sample) const override;

 private:
  const metric_family family_;
  const std::vector<dimension> dimensions_;
  const double scale_;
  sharded_sums cells_;
};

/// Inclusive upper bounds of the buckets of `duration_histogram`, in nanoseconds. One additional bucket counts longer times.
inline constexpr std::array<std::int64_t, 18> bucket_bounds{
    50'000,      100'000,       250'000,       500'000,       1'000'000,      2'500'000,
    5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,    250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};
/// The index of the bucket that counts `duration`; `bucket_bounds.size()` for the additional bucket.
[[nodiscard]] inline std::size_t bucket_index(std::chrono::nanoseconds duration) noexcept {
  std::size_t index = 0;
  while (index < bucket_bounds.size() && duration.count() > bucket_bounds[index]) ++index;
  return index;
}

/// A histogram of durations with fixed labels, reported in seconds. Allocates all memory on construction.
/// Threads: any, without a lock.
class duration_histogram final : public collector {
 public:
  /// Makes a histogram that is not registered.
  duration_histogram(const metric_family& family, std::vector<dimension> dimensions)
      : family_(family), dimensions_(std::move(dimensions)), cells_(series_count(dimensions_) * cells_per_series) {}
  /// Makes a histogram and registers it in `target`. It stays registered while the caller owns the result.
  [[nodiscard]] static std::shared_ptr<duration_histogram> make(const metric_family& family,
                                                                std::vector<dimension> dimensions = {},
                                                                registry& target = registry::global());

  /// Counts one duration. A negative one counts as 0.
  void observe(std::size_t series, std::chrono::nanoseconds duration) noexcept {
    const auto first = series * cells_per_series;
    cells_.add(first + bucket_index(duration), 1);
    cells_.add(first + cells_per_series - 1, static_cast<std::uint64_t>(duration.count() > 0 ? duration.count() : 0));
  }
  /// The number of durations counted in a series.
  [[nodiscard]] std::uint64_t count(std::size_t series) const noexcept;

  [[nodiscard]] metric_family describe() const override { return family_; }
  /// Reports the series, except those that have labels and no durations.
  void collect(const sample_callback& on_sample) const override;

 private:
  static constexpr std::size_t cells_per_series =
      bucket_bounds.size() + 2;  // the buckets, the bucket for longer times, and the sum
  const metric_family family_;
  const std::vector<dimension> dimensions_;
  sharded_sums cells_;
};

}  // namespace hondana::counters
