/// Collects the metrics of this machine from /proc and /sys, with the names of node_exporter.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/samples/store.hpp"

namespace hondana::host {

/// Options of a `collector`. Tests use other folders.
struct options {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string root = "/";  ///< Mount points are below this folder.
  /// Adds `namedprocess_namegroup_*`, as in process-exporter: CPU and memory of the processes of each name. Command lines are
  /// never included, since they can hold secrets. The numbers of processes by state are always collected.
  bool has_processes = true;
  /// How many names `has_processes` adds: half of them those with the most memory, the others those with the most CPU time.
  std::size_t max_processes = 20;
};

/// Collects metrics of this machine repeatedly. Threads: one at a time.
class collector {
 public:
  explicit collector(options options = {});
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  /// Adds all metrics to `batch`, with `now` as the time of each sample.
  ///
  /// Collects CPU time by mode, load, memory and swap, disks and file systems, network devices and protocols. Also pressure
  /// stalls, interrupts and context switches, file descriptors, temperatures, and processes by state and by name. Names,
  /// labels, units and kinds are those of node_exporter 1.5. Metrics that this kernel or user cannot access are left out, and
  /// so are samples beyond 50,000.
  ///
  /// The CPU time of a process name includes processes that earlier calls have seen and that have ended. If a call finds no
  /// process of the name, this time is forgotten.
  ///
  /// Blocks only for reads of /proc and /sys, some milliseconds. File systems that can hang (network, FUSE) are not queried for
  /// their sizes. Errors: source_unavailable if `proc`/stat cannot be read.
  [[nodiscard]] result<void> collect(series::instant now, samples::batch& batch);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Collects once, with a new collector.
[[nodiscard]] result<void> collect(const options& options, series::instant now, samples::batch& batch);

/// Returns the folders that a collector reads, for `system_requirements::folders`: `proc` and `sys`. Below `root`, only the
/// sizes of mounted file systems are queried, which needs no read permission.
[[nodiscard]] std::vector<std::string> folders(const options& options);

}  // namespace hondana::host
