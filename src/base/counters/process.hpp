/// What the kernel says of this process, under the names that Prometheus clients agree on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters/registry.hpp"

namespace hondana::counters {

/// `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`, `process_open_fds`,
/// `process_max_fds`, `process_threads`, `process_start_time_seconds`; what cannot be read is left out. `proc`: where that is
/// mounted, opened now, so that a sandbox may close it later.
[[nodiscard]] std::vector<std::shared_ptr<const part>> of_process(const std::string& proc = "/proc",
                                                                  registry& at = registry::here());
/// `hondana_build_info{version=…}`, always 1.
[[nodiscard]] std::shared_ptr<const part> of_build(std::string_view version, registry& at = registry::here());

}  // namespace hondana::counters
