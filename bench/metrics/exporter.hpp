/// An exporter of made-up values, in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../process/child.hpp"

namespace metrics_bench {

struct exporter {
  std::unique_ptr<bench::child> process{};
  std::uint16_t port = 0;
  std::size_t bytes = 0;  ///< Of one answer, nearly.
};

/// Answers every request with `series` series, each time with other values; answers are ready before they are asked for.
/// `core`: where it runs.
[[nodiscard]] exporter start_exporter(std::size_t series, int core);

}  // namespace metrics_bench
