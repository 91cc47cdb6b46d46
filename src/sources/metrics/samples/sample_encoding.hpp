/// The encodings of samples: compressed chunks, growing heads in memory, and rows of the write-ahead tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {

/// The maximum number of samples in a chunk. Larger chunks are neither written nor read.
inline constexpr std::size_t max_chunk_samples = 4096;

/// Compresses samples to a chunk, without loss. `samples`: 1 to `max_chunk_samples` samples, in strictly increasing order of
/// time. Linear time. Times are stored as differences of differences. Values that are decimal numbers with few places, as most
/// are, are stored as differences of integers, or differences of these. Exceptions are stored separately. For other series, the
/// bits of each value that changed are stored.
[[nodiscard]] std::string encode_chunk(const std::vector<series::sample>& samples);

/// Decodes a chunk, and appends the samples with `start <= time <= end`. Returns false, and appends nothing, if `bytes` is not
/// a chunk. The decoded times are strictly increasing, for any input. Linear time. Memory: `max_chunk_samples` samples.
[[nodiscard]] bool decode_chunk(std::string_view bytes, series::instant start, series::instant end,
                                std::vector<series::sample>& output);

/// The newest samples of a series, which are not in a chunk yet, in compressed form. A sample with the same value and distance
/// as the one before takes one byte, a typical one four. Threads: one at a time.
class head {
 public:
  /// Adds a sample. `sample.time` must be later than that of the previous sample.
  void add(series::sample sample);
  /// Appends the samples with `start <= time <= end`.
  void read(series::instant start, series::instant end, std::vector<series::sample>& output) const;

  /// Returns the number of samples.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Returns the time of the first sample. There must be one.
  [[nodiscard]] series::instant first() const noexcept { return first_; }
  /// Returns the last sample. There must be one.
  [[nodiscard]] series::sample last() const noexcept { return last_; }
  /// Returns the bytes of memory, with the object itself and without the allocator's overhead.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return sizeof(head) + bytes_.capacity(); }
  /// Returns the bytes of the compressed samples.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::string bytes_{};
  series::instant first_ = 0;
  series::sample last_{};
  std::int64_t difference_ = 0;  // of the times of the last two samples
  std::uint32_t count_ = 0;
};

/// A sample and the ID of its series.
struct numbered_sample {
  std::int64_t series_id = 0;
  series::sample sample{};
};

/// Encodes the samples of a batch as a row of the table `tail`, which has the samples that are not in chunks yet.
[[nodiscard]] std::string encode_tail_row(const std::vector<numbered_sample>& samples);
/// Decodes a row, and appends its samples. Returns false, and appends nothing, if `bytes` is not a valid row.
[[nodiscard]] bool decode_tail_row(std::string_view bytes, std::vector<numbered_sample>& output);

}  // namespace hondana::samples
