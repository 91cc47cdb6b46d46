/// The newest samples of one series, in memory, while they still become more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/sample.hpp"

namespace hondana::samples {

/// A row of samples that grows at its end: a byte where nothing changes, four for a usual one. Threads: one at a time.
class head {
 public:
  /// `at` is later than that of the sample before.
  void add(series::sample what);
  /// Appends the samples with `from <= at <= to`.
  void read(series::instant from, series::instant to, std::vector<series::sample>& into) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] series::instant first() const noexcept { return first_; }
  [[nodiscard]] series::sample last() const noexcept { return last_; }
  /// Bytes of memory, without what the allocator takes for itself.
  [[nodiscard]] std::size_t memory() const noexcept { return sizeof(head) + bytes_.capacity(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::string bytes_{};
  series::instant first_ = 0;
  series::sample last_{};
  std::int64_t difference_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace hondana::samples
