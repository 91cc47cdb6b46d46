/// A load generator: keep-alive connections that each ask the same again as soon as they are answered.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace http_bench {

struct outcome {
  std::uint64_t answers = 0;
  double seconds = 0;
};

/// Asks 127.0.0.1:`port` over `connections` connections for `time`. Throws when an answer is not 200 or its body has not
/// `body_size` bytes, so that errors are never counted as speed.
[[nodiscard]] outcome generate(std::uint16_t port, const std::string& request, std::size_t body_size, int connections,
                               std::chrono::milliseconds time);

/// The body of one answer.
[[nodiscard]] std::string fetch(std::uint16_t port, const std::string& request);

}  // namespace http_bench
