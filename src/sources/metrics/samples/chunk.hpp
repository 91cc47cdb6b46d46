/// The final form of samples of one series: a few bits each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/sample.hpp"

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

}  // namespace hondana::samples
