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

enum class kind : std::uint8_t { counter, gauge, histogram, info };

/// Describes a metric family. All text must live as long as the program.
struct metric_family {
  std::string_view name{};  ///< Without suffixes such as `_total`, `_bucket` and `_info`: "hondana_requests".
  counters::kind kind = counters::kind::counter;
  std::string_view unit{};  ///< "seconds", "bytes". The name must end with the unit. Empty: no unit.
  std::string_view help{};
};

struct label {
  std::string name{};
  std::string value{};
  bool operator==(const label&) const = default;
};

/// Receives all metrics during a collection, family by family.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;
  virtual void family(const metric_family& metadata) = 0;
  /// Adds one sample to the last family.
  /// `suffix`: "_total" for counters; "_bucket", "_sum" and "_count" for histograms; "_info" for infos; empty for gauges.
  /// Buckets are cumulative and carry the label `le`. The last bucket is "+Inf".
  virtual void sample(std::string_view suffix, std::span<const label> labels, double value) = 0;
};

class registry;

/// A collector of one metric family, called at each collection.
/// If several collectors report the same family and labels, such as two servers in one process, their values are added.
class collector {
 public:
  collector() = default;
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;
  virtual ~collector() = default;
  [[nodiscard]] virtual metric_family describe() const = 0;
  using sample_callback = std::function<void(std::string_view suffix, std::span<const label> labels, double value)>;
  /// Reports the current samples. Threads: any, several at once.
  virtual void collect(const sample_callback& on_sample) const = 0;
};

/// Calls all registered collectors, ordered by family name. Threads: any.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  /// The registry of this process.
  [[nodiscard]] static registry& global();

  /// Registers `collector` until its last owner releases it.
  void add(std::weak_ptr<const collector> collector);
  /// Writes all current samples to `target`. Calls the collectors without holding a lock.
  void collect(sink& target) const;

 private:
  mutable std::mutex mutex_;
  mutable std::list<std::weak_ptr<const collector>> collectors_;
};

/// Registers a collector whose samples come from the function `collect`. The caller keeps the result to keep it registered.
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

/// A fixed number of sums, sharded by thread. Threads: any, without a lock.
/// A sum that is read during additions includes some of them.
class sharded_sums {
 public:
  explicit sharded_sums(std::size_t count)
      : count_(count),
        lines_((count + cells_per_line - 1) / cells_per_line),
        storage_(std::make_unique<cache_line[]>(lines_ * shard_count)) {}

  /// `index` must be less than `size()`. A negative amount converted to unsigned is correct: sums wrap modulo 2^64.
  void add(std::size_t index, std::uint64_t amount) noexcept {
    cell(current_shard(), index).fetch_add(amount, std::memory_order_relaxed);
  }
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
/// Series are numbered in mixed radix; the last label varies fastest. With labels a and b of two values each, series 1 is
/// (a0, b1).
struct dimension {
  std::string name{};
  std::vector<std::string> values{};
};

/// The labels of series number `series`.
[[nodiscard]] std::vector<label> labels_at(const std::vector<dimension>& dimensions, std::size_t series);
/// The number of label combinations.
[[nodiscard]] std::size_t series_count(const std::vector<dimension>& dimensions) noexcept;

/// Counters or gauges of one family with fixed labels. Allocates all memory on construction. Adding takes no lock.
/// Threads: any.
class counter_family final : public collector {
 public:
  /// `scale`: the factor from stored amounts to the unit of the family, such as 1e-9 for nanoseconds in a family of seconds.
  counter_family(const metric_family& family, std::vector<dimension> dimensions, double scale = 1)
      : family_(family), dimensions_(std::move(dimensions)), scale_(scale), cells_(series_count(dimensions_)) {}
  [[nodiscard]] static std::shared_ptr<counter_family> make(const metric_family& family, std::vector<dimension> dimensions = {},
                                                            double scale = 1, registry& target = registry::global());

  void add(std::size_t series, std::uint64_t amount = 1) noexcept { cells_.add(series, amount); }
  void subtract(std::size_t series, std::uint64_t amount = 1) noexcept { cells_.add(series, ~amount + 1); }
  [[nodiscard]] std::uint64_t sum(std::size_t series) const noexcept { return cells_.sum(series); }

  [[nodiscard]] metric_family describe() const override { return family_; }
  /// Omits series that have labels and the value 0.
  void collect(const sample_callback& on_sample) const override;

 private:
  const metric_family family_;
  const std::vector<dimension> dimensions_;
  const double scale_;
  sharded_sums cells_;
};

/// Upper bounds of the time buckets, in nanoseconds. One additional bucket counts longer times.
inline constexpr std::array<std::int64_t, 18> bucket_bounds{
    50'000,      100'000,       250'000,       500'000,       1'000'000,      2'500'000,
    5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,    250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};
/// The index of the first bound in `bucket_bounds` that is at least `duration`; their number if there is none.
[[nodiscard]] inline std::size_t bucket_index(std::chrono::nanoseconds duration) noexcept {
  std::size_t index = 0;
  while (index < bucket_bounds.size() && duration.count() > bucket_bounds[index]) ++index;
  return index;
}

/// A histogram of durations with fixed labels; otherwise like `counter_family`. Unit: seconds.
class duration_histogram final : public collector {
 public:
  duration_histogram(const metric_family& family, std::vector<dimension> dimensions)
      : family_(family), dimensions_(std::move(dimensions)), cells_(series_count(dimensions_) * cells_per_series) {}
  [[nodiscard]] static std::shared_ptr<duration_histogram> make(const metric_family& family,
                                                                std::vector<dimension> dimensions = {},
                                                                registry& target = registry::global());

  void observe(std::size_t series, std::chrono::nanoseconds duration) noexcept {
    const auto first = series * cells_per_series;
    cells_.add(first + bucket_index(duration), 1);
    cells_.add(first + cells_per_series - 1, static_cast<std::uint64_t>(duration.count() > 0 ? duration.count() : 0));
  }
  [[nodiscard]] std::uint64_t count(std::size_t series) const noexcept;

  [[nodiscard]] metric_family describe() const override { return family_; }
  void collect(const sample_callback& on_sample) const override;

 private:
  static constexpr std::size_t cells_per_series =
      bucket_bounds.size() + 2;  // the buckets, the bucket for longer times, and the sum
  const metric_family family_;
  const std::vector<dimension> dimensions_;
  sharded_sums cells_;
};

}  // namespace hondana::counters
