/// One batch as it is written at once: a row of bytes that holds all of its samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/series/sample.hpp"

namespace hondana::samples {

struct numbered_sample {
  std::int64_t series = 0;
  series::sample what{};
};

[[nodiscard]] std::string to_tail_row(const std::vector<numbered_sample>& of);
/// False: these bytes are no such row; then nothing is appended.
[[nodiscard]] bool read_tail_row(std::string_view bytes, std::vector<numbered_sample>& into);

}  // namespace hondana::samples
