/// The encodings of samples: compressed chunks, growing heads in memory, and rows of the write-ahead tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {

/// The most samples in a chunk. Larger ones are neither written nor read.
inline constexpr std::size_t most_in_chunk = 4096;

/// Compresses samples without loss. `of`: 1 to `most_in_chunk` samples, in strictly increasing order of time. Linear time.
/// Times are stored as differences of differences. Values that are decimal numbers with few places, as most are, are stored as
/// differences of integers, or differences of these. Exceptions are stored separately. Other series store the bits of each
/// value that changed.
[[nodiscard]] std::string to_chunk(const std::vector<series::sample>& of);

/// Appends the samples with `from <= at <= to`. Returns false, and appends nothing, if `bytes` is not a chunk. The decoded
/// times are strictly increasing, for any input. Threads: any. Linear time. Memory: `most_in_chunk` samples.
[[nodiscard]] bool read_chunk(std::string_view bytes, series::instant from, series::instant to,
                              std::vector<series::sample>& into);

/// The newest samples of a series, in compressed form. An unchanged sample takes one byte, a typical one four. Threads: one at
/// a time.
class head {
 public:
  /// `what.at` must be later than that of the previous sample.
  void add(series::sample what);
  /// Appends the samples with `from <= at <= to`.
  void read(series::instant from, series::instant to, std::vector<series::sample>& into) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] series::instant first() const noexcept { return first_; }
  [[nodiscard]] series::sample last() const noexcept { return last_; }
  /// Bytes of memory, without the allocator's overhead.
  [[nodiscard]] std::size_t memory() const noexcept { return sizeof(head) + bytes_.capacity(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::string bytes_{};
  series::instant first_ = 0;
  series::sample last_{};
  std::int64_t difference_ = 0;
  std::uint32_t count_ = 0;
};

/// A sample and the ID of its series.
struct numbered_sample {
  std::int64_t series = 0;
  series::sample what{};
};

/// Encodes the samples of a batch as a row of the tail, the table of samples that are not in chunks yet.
[[nodiscard]] std::string to_tail_row(const std::vector<numbered_sample>& of);
/// Returns false, and appends nothing, if `bytes` is not a valid row.
[[nodiscard]] bool read_tail_row(std::string_view bytes, std::vector<numbered_sample>& into);

}  // namespace hondana::samples
