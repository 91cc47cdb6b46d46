/// Collects the metrics of this machine from /proc and /sys, with the names of node_exporter.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/samples/store.hpp"

namespace hondana::host {

struct options {
  std::string proc = "/proc";  ///< Tests use other trees.
  std::string sys = "/sys";
  std::string root = "/";  ///< For the sizes of file systems.
  /// Metrics of the largest processes by memory and CPU, grouped by name: `namedprocess_namegroup_*`, as in process-exporter.
  /// Command lines are never included, since they can hold secrets.
  bool has_processes = true;
  std::size_t max_processes = 20;  ///< Number of process names.
};

/// Collects metrics of this machine repeatedly. Threads: one at a time.
class collector {
 public:
  explicit collector(options options = {});
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  /// Reads all metrics once into `batch`, with `now` as the time of each sample.
  ///
  /// Collects CPU time by mode, load, memory and swap, disks and file systems, network devices and protocols. Also pressure
  /// stalls, interrupts and context switches, file descriptors, temperatures, and processes by state and by name. Names,
  /// labels, units and kinds are those of node_exporter 1.5. Metrics that this kernel or user cannot access are left out, and
  /// so are samples beyond 50,000.
  ///
  /// The CPU time of a process name includes processes that have ended since the first call.
  ///
  /// Blocks only for reads of /proc and /sys, some milliseconds. File systems that can hang (network, FUSE) are not queried for
  /// their sizes. Errors: source_unavailable if `proc` cannot be read.
  [[nodiscard]] result<void> collect(series::instant now, samples::batch& batch);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Collects once, with a new collector.
[[nodiscard]] result<void> collect(const options& options, series::instant now, samples::batch& batch);

/// The folders that a collector reads, for `system_requirements::folders`: `proc` and `sys` of the options. Links from
/// /sys/class lead into /sys/devices. Below `root`, only the sizes of mounted file systems are queried, which needs no read
/// permission.
[[nodiscard]] std::vector<std::string> folders(const options& options);

}  // namespace hondana::host
