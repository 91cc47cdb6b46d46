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
inline constexpr std::size_t max_chunk_samples = 4096;

/// Compresses samples without loss. `samples`: 1 to `max_chunk_samples` samples, in strictly increasing order of time. Linear
/// time. Times are stored as differences of differences. Values that are decimal numbers with few places, as most are, are
/// stored as differences of integers, or differences of these. Exceptions are stored separately. Other series store the bits of
/// each value that changed.
[[nodiscard]] std::string encode_chunk(const std::vector<series::sample>& samples);

/// Appends the samples with `start <= time <= end`. Returns false, and appends nothing, if `bytes` is not a chunk. The decoded
/// times are strictly increasing, for any input. Threads: any. Linear time. Memory: `max_chunk_samples` samples.
[[nodiscard]] bool decode_chunk(std::string_view bytes, series::instant start, series::instant end,
                                std::vector<series::sample>& output);

/// The newest samples of a series, in compressed form. An unchanged sample takes one byte, a typical one four. Threads: one at
/// a time.
class head {
 public:
  /// `sample.time` must be later than that of the previous sample.
  void add(series::sample sample);
  /// Appends the samples with `start <= time <= end`.
  void read(series::instant start, series::instant end, std::vector<series::sample>& output) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] series::instant first() const noexcept { return first_; }
  [[nodiscard]] series::sample last() const noexcept { return last_; }
  /// Bytes of memory, without the allocator's overhead.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return sizeof(head) + bytes_.capacity(); }
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
  std::int64_t series_id = 0;
  series::sample sample{};
};

/// Encodes the samples of a batch as a row of the tail, the table of samples that are not in chunks yet.
[[nodiscard]] std::string encode_tail_row(const std::vector<numbered_sample>& samples);
/// Returns false, and appends nothing, if `bytes` is not a valid row.
[[nodiscard]] bool decode_tail_row(std::string_view bytes, std::vector<numbered_sample>& output);

}  // namespace hondana::samples
