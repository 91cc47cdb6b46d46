/// Metrics of the whole process: CPU time, memory, file descriptors, and bytes per transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters/metrics.hpp"

namespace hondana::counters {

/// Registers `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`, `process_open_fds`,
/// `process_max_fds`, `process_threads` and `process_start_time_seconds`.
/// Values that cannot be read are omitted. `proc`: the mount point of procfs. Its files are opened in this call, so that a
/// later sandbox does not affect them.
[[nodiscard]] std::vector<std::shared_ptr<const part>> of_process(const std::string& proc = "/proc",
                                                                  registry& at = registry::here());
/// Registers `hondana_build_info{version=…}`, which is always 1.
[[nodiscard]] std::shared_ptr<const part> of_build(std::string_view version, registry& at = registry::here());

enum class way : std::uint8_t { stdio, http };

/// Counts the bytes that this process receives and sends per transport, without TLS overhead. Threads: any.
class traffic {
 public:
  [[nodiscard]] static traffic& here();
  void received(way by, std::size_t bytes) noexcept { received_->add(static_cast<std::size_t>(by), bytes); }
  void sent(way by, std::size_t bytes) noexcept { sent_->add(static_cast<std::size_t>(by), bytes); }

 private:
  traffic();
  const std::shared_ptr<sums> received_;
  const std::shared_ptr<sums> sent_;
};

}  // namespace hondana::counters
