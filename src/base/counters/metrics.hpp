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

/// Of a family of series. Text that lives as long as the program.
struct head {
  std::string_view name{};  ///< As Prometheus wants it, without `_total`, `_bucket`, `_info` and the like: "hondana_requests".
  counters::kind kind = counters::kind::counter;
  std::string_view unit{};  ///< "seconds", "bytes"; then the name ends with it. Empty: none.
  std::string_view help{};
};

struct label {
  std::string name{};
  std::string value{};
  bool operator==(const label&) const = default;
};

/// Takes what there is, family by family.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;
  virtual void family(const head& of) = 0;
  /// Of the last family. `suffix`: "_total" of counters, "_bucket", "_sum" and "_count" of histograms, "_info" of infos, empty
  /// of gauges. Buckets are cumulative and have the label `le`, the last of them "+Inf".
  virtual void sample(std::string_view suffix, std::span<const label> labels, double value) = 0;
};

class registry;

/// One that is asked for its samples whenever somebody collects. Where several have the same family and labels, for instance
/// two servers in one process, the values are added up.
class part {
 public:
  part() = default;
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  virtual ~part() = default;
  [[nodiscard]] virtual head of() const = 0;
  using teller = std::function<void(std::string_view suffix, std::span<const label> labels, double value)>;
  /// Threads: any, several at once.
  virtual void tell(const teller& to) const = 0;
};

/// Families in the order of their names. Threads: any.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  /// That of this process.
  [[nodiscard]] static registry& here();

  /// Until somebody else lets go of it.
  void add(std::weak_ptr<const part> what);
  /// Everything once. What is asked is asked without a lock.
  void collect(sink& into) const;

 private:
  mutable std::mutex mutex_;
  mutable std::list<std::weak_ptr<const part>> parts_;
};

/// A part that is one function.
[[nodiscard]] std::shared_ptr<const part> asked(const head& of, std::function<void(const part::teller&)> tells,
                                                registry& at = registry::here());

/// How many threads add without getting into each other's way.
inline constexpr std::size_t shards = 8;

/// Of the calling thread; from 0 to `shards` - 1.
[[nodiscard]] inline std::size_t own_shard() noexcept {
  static std::atomic<std::size_t> last{0};
  static constinit thread_local std::size_t mine = 0;  // one more than it is
  if (mine == 0) [[unlikely]]
    mine = last.fetch_add(1, std::memory_order_relaxed) % shards + 1;
  return mine - 1;
}

/// A fixed number of sums. Threads: any, without a lock; a sum that is asked for while others add has some of that.
class cells {
 public:
  explicit cells(std::size_t count)
      : count_(count), lines_((count + in_line - 1) / in_line), all_(std::make_unique<line[]>(lines_ * shards)) {}

  /// `where`: less than `size()`. Amounts below 0 are added modulo 2^64, and so come out right.
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

/// A label with all the values it can have. Series are numbered like a number's digits, the last label's fastest.
struct dimension {
  std::string name{};
  std::vector<std::string> values{};
};

/// The labels of the series `which`.
[[nodiscard]] std::vector<label> labels_at(const std::vector<dimension>& by, std::size_t which);
[[nodiscard]] std::size_t series_of(const std::vector<dimension>& by) noexcept;

/// Sums that grow, or, of a gauge, also shrink. All memory is taken when it is made; adding takes a few instructions, no lock.
/// Threads: any.
class sums final : public part {
 public:
  /// `scale`: what one of what is added is worth in the family's unit.
  sums(const head& of, std::vector<dimension> by, double scale = 1)
      : of_(of), by_(std::move(by)), scale_(scale), all_(series_of(by_)) {}
  [[nodiscard]] static std::shared_ptr<sums> make(const head& of, std::vector<dimension> by = {}, double scale = 1,
                                                  registry& at = registry::here());

  void add(std::size_t which, std::uint64_t amount = 1) noexcept { all_.add(which, amount); }
  void subtract(std::size_t which, std::uint64_t amount = 1) noexcept { all_.add(which, ~amount + 1); }
  [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept { return all_.sum(which); }

  [[nodiscard]] head of() const override { return of_; }
  /// Series with labels that were never counted are left out.
  void tell(const teller& to) const override;

 private:
  const head of_;
  const std::vector<dimension> by_;
  const double scale_;
  cells all_;
};

/// Upper bounds of the buckets for times, in nanoseconds; one more bucket has what is longer.
inline constexpr std::array<std::int64_t, 18> time_bounds{
    50'000,      100'000,       250'000,       500'000,       1'000'000,      2'500'000,
    5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,    250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};
/// The one that a time belongs to.
[[nodiscard]] inline std::size_t bucket_of(std::chrono::nanoseconds time) noexcept {
  std::size_t at = 0;
  while (at < time_bounds.size() && time.count() > time_bounds[at]) ++at;
  return at;
}

/// How long things take, by fixed labels; otherwise as `sums`. Units: seconds.
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
  static constexpr std::size_t cells_each = time_bounds.size() + 2;  // and the longer ones, and the sum
  const head of_;
  const std::vector<dimension> by_;
  cells all_;
};

}  // namespace hondana::counters
