/// The encodings of samples: compressed chunks, growing heads in memory, and rows of the write-ahead tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {

/// What a chunk holds at most; more is not written, and not read.
inline constexpr std::size_t most_in_chunk = 4096;

/// Instants as differences of differences. Values that are decimal numbers of few places, as most are, as differences of whole
/// numbers (or differences of those), with the others beside; all other values as what has changed of their bits. Every value
/// comes back bit for bit. `of`: 1 to `most_in_chunk`, in the order of their instants, each once. Linear time.
[[nodiscard]] std::string to_chunk(const std::vector<series::sample>& of);

/// Appends the samples with `from <= at <= to`. False: these bytes are no chunk; then nothing is appended. What is read has
/// rising instants, whatever the bytes are. Threads: any. Linear time; memory: `most_in_chunk` samples.
[[nodiscard]] bool read_chunk(std::string_view bytes, series::instant from, series::instant to,
                              std::vector<series::sample>& into);

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

struct numbered_sample {
  std::int64_t series = 0;
  series::sample what{};
};

[[nodiscard]] std::string to_tail_row(const std::vector<numbered_sample>& of);
/// False: these bytes are no such row; then nothing is appended.
[[nodiscard]] bool read_tail_row(std::string_view bytes, std::vector<numbered_sample>& into);

}  // namespace hondana::samples
