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

/// Registers the metrics `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`,
/// `process_open_fds`, `process_max_fds`, `process_threads` and `process_start_time_seconds`.
/// They stay registered while the caller owns the result. Values that cannot be read are omitted.
/// `proc`: the mount point of procfs. Call this before the process is sandboxed, because it opens the files there.
[[nodiscard]] std::vector<std::shared_ptr<const collector>> register_process_metrics(const std::string& proc = "/proc",
                                                                                     registry& target = registry::global());
/// Registers the metric `hondana_build_info{version="…"}`, which is always 1, while the caller owns the result.
[[nodiscard]] std::shared_ptr<const collector> register_build_info(std::string_view version,
                                                                   registry& target = registry::global());

enum class transport_kind : std::uint8_t { stdio, http };

/// The metrics `hondana_received_bytes_total` and `hondana_sent_bytes_total`, by transport, without TLS overhead. Threads: any.
class traffic_counters {
 public:
  /// The counters of this process, created by the first call.
  [[nodiscard]] static traffic_counters& global();
  void add_received(transport_kind transport, std::size_t bytes) noexcept {
    received_->add(static_cast<std::size_t>(transport), bytes);
  }
  void add_sent(transport_kind transport, std::size_t bytes) noexcept {
    sent_->add(static_cast<std::size_t>(transport), bytes);
  }

 private:
  traffic_counters();
  const std::shared_ptr<counter_family> received_;
  const std::shared_ptr<counter_family> sent_;
};

}  // namespace hondana::counters
