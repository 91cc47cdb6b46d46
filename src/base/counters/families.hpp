/// Counters, gauges and histograms with label values that are known ahead.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counters/cells.hpp"
#include "base/counters/registry.hpp"

namespace hondana::counters {

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
