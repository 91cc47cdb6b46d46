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
struct head {
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
  virtual void family(const head& of) = 0;
  /// Adds one sample to the last family.
  /// `suffix`: "_total" for counters; "_bucket", "_sum" and "_count" for histograms; "_info" for infos; empty for gauges.
  /// Buckets are cumulative and carry the label `le`. The last bucket is "+Inf".
  virtual void sample(std::string_view suffix, std::span<const label> labels, double value) = 0;
};

class registry;

/// A collector of one metric family, called at each collection.
/// If several parts report the same family and labels, such as two servers in one process, their values are added.
class part {
 public:
  part() = default;
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  virtual ~part() = default;
  [[nodiscard]] virtual head of() const = 0;
  using teller = std::function<void(std::string_view suffix, std::span<const label> labels, double value)>;
  /// Reports the current samples. Threads: any, several at once.
  virtual void tell(const teller& to) const = 0;
};

/// Collects all registered parts, ordered by family name. Threads: any.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  /// The registry of this process.
  [[nodiscard]] static registry& here();

  /// Registers `what` until its last owner releases it.
  void add(std::weak_ptr<const part> what);
  /// Writes all current samples to `into`. Calls the parts without holding a lock.
  void collect(sink& into) const;

 private:
  mutable std::mutex mutex_;
  mutable std::list<std::weak_ptr<const part>> parts_;
};

/// Registers a part whose samples come from the function `tells`. The caller keeps the result to keep it registered.
[[nodiscard]] std::shared_ptr<const part> asked(const head& of, std::function<void(const part::teller&)> tells,
                                                registry& at = registry::here());

/// The number of threads that can add to `cells` without contention.
inline constexpr std::size_t shards = 8;

/// The shard of the calling thread, from 0 to `shards` - 1.
[[nodiscard]] inline std::size_t own_shard() noexcept {
  static std::atomic<std::size_t> last{0};
  static constinit thread_local std::size_t mine = 0;  // the shard plus one; 0: not assigned yet
  if (mine == 0) [[unlikely]]
    mine = last.fetch_add(1, std::memory_order_relaxed) % shards + 1;
  return mine - 1;
}

/// A fixed number of sums, sharded by thread. Threads: any, without a lock.
/// A sum that is read during additions includes some of them.
class cells {
 public:
  explicit cells(std::size_t count)
      : count_(count), lines_((count + in_line - 1) / in_line), all_(std::make_unique<line[]>(lines_ * shards)) {}

  /// `where` must be less than `size()`. A negative amount converted to unsigned is correct: sums wrap modulo 2^64.
  void add(std::size_t where, std::uint64_t amount) noexcept {
    at(own_shard(), where).fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sum(std::size_t where) const noexcept {
    std::uint64_t out = 0;
    for (std::size_t one = 0; one < shards; ++one) out += at(one, where).load(std::memory_order_relaxed);
    return out;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::size_t in_line = 8;
  struct alignas(64) line {
    std::array<std::atomic<std::uint64_t>, in_line> of{};
  };
  [[nodiscard]] std::atomic<std::uint64_t>& at(std::size_t shard, std::size_t where) const noexcept {
    return all_[shard * lines_ + where / in_line].of[where % in_line];
  }

  const std::size_t count_;
  const std::size_t lines_;
  const std::unique_ptr<line[]> all_;
};

/// A label and all of its possible values.
/// Series are numbered in mixed radix; the last label varies fastest. With labels a and b of two values each, series 1 is
/// (a0, b1).
struct dimension {
  std::string name{};
  std::vector<std::string> values{};
};

/// The labels of series number `which`.
[[nodiscard]] std::vector<label> labels_at(const std::vector<dimension>& by, std::size_t which);
/// The number of label combinations.
[[nodiscard]] std::size_t series_of(const std::vector<dimension>& by) noexcept;

/// Counters or gauges of one family with fixed labels. Allocates all memory on construction. Adding takes no lock.
/// Threads: any.
class sums final : public part {
 public:
  /// `scale`: the factor from stored amounts to the unit of the family, such as 1e-9 for nanoseconds in a family of seconds.
  sums(const head& of, std::vector<dimension> by, double scale = 1)
      : of_(of), by_(std::move(by)), scale_(scale), all_(series_of(by_)) {}
  [[nodiscard]] static std::shared_ptr<sums> make(const head& of, std::vector<dimension> by = {}, double scale = 1,
                                                  registry& at = registry::here());

  void add(std::size_t which, std::uint64_t amount = 1) noexcept { all_.add(which, amount); }
  void subtract(std::size_t which, std::uint64_t amount = 1) noexcept { all_.add(which, ~amount + 1); }
  [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept { return all_.sum(which); }

  [[nodiscard]] head of() const override { return of_; }
  /// Omits series that have labels and the value 0.
  void tell(const teller& to) const override;

 private:
  const head of_;
  const std::vector<dimension> by_;
  const double scale_;
  cells all_;
};

/// Upper bounds of the time buckets, in nanoseconds. One additional bucket counts longer times.
inline constexpr std::array<std::int64_t, 18> time_bounds{
    50'000,      100'000,       250'000,       500'000,       1'000'000,      2'500'000,
    5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,    250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};
/// The index of the bucket for `time`.
[[nodiscard]] inline std::size_t bucket_of(std::chrono::nanoseconds time) noexcept {
  std::size_t at = 0;
  while (at < time_bounds.size() && time.count() > time_bounds[at]) ++at;
  return at;
}

/// A histogram of durations with fixed labels; otherwise like `sums`. Unit: seconds.
class times final : public part {
 public:
  times(const head& of, std::vector<dimension> by) : of_(of), by_(std::move(by)), all_(series_of(by_) * cells_each) {}
  [[nodiscard]] static std::shared_ptr<times> make(const head& of, std::vector<dimension> by = {},
                                                   registry& at = registry::here());

  void observe(std::size_t which, std::chrono::nanoseconds time) noexcept {
    const auto first = which * cells_each;
    all_.add(first + bucket_of(time), 1);
    all_.add(first + cells_each - 1, static_cast<std::uint64_t>(time.count() > 0 ? time.count() : 0));
  }
  [[nodiscard]] std::uint64_t count(std::size_t which) const noexcept;

  [[nodiscard]] head of() const override { return of_; }
  void tell(const teller& to) const override;

 private:
  static constexpr std::size_t cells_each = time_bounds.size() + 2;  // the buckets, the bucket for longer times, and the sum
  const head of_;
  const std::vector<dimension> by_;
  cells all_;
};

}  // namespace hondana::counters
