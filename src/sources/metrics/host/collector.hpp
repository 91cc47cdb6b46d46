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
  std::string proc = "/proc";  ///< Tests put trees of their own here.
  std::string sys = "/sys";
  std::string root = "/";  ///< For file systems' sizes.
  /// The largest by memory and CPU, by name: `namedprocess_namegroup_*`, as process-exporter calls them. Never command lines,
  /// which hold secrets.
  bool has_processes = true;
  std::size_t most_processes = 20;  ///< Names.
};

/// Looks at the machine. Threads: one at a time.
class collector {
 public:
  explicit collector(options from = {});
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  /// Reads everything once into `into`, with `now` as every sample's instant; what this kernel or user does not have is left
  /// out, and so is what would make more than 50 000 samples. CPU by mode, load, memory and swap, disks and file systems,
  /// network devices and protocols, pressure stalls, interrupts and context switches, file descriptors, temperatures,
  /// processes by state and by name. Names, labels, units and kinds as node_exporter 1.5. CPU time of names goes on counting
  /// when processes of that name end, from the first look on.
  ///
  /// Blocks on /proc and /sys only, some milliseconds; file systems that could hang (of networks, and FUSE) are not asked for
  /// their sizes. Errors: source_unavailable when `proc` cannot be read.
  [[nodiscard]] result<void> collect(series::instant now, samples::batch& into);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// One look by a collector that has not looked before.
[[nodiscard]] result<void> collect(const options& from, series::instant now, samples::batch& into);

/// Folders that a collector reads, for `needs::folders`: those of `options`. /proc and /sys are read all over, and through
/// links from /sys/class into /sys/devices; of the root only the sizes of what is mounted there are asked for, which needs no
/// right to read.
[[nodiscard]] std::vector<std::string> folders(const options& from);

}  // namespace hondana::host
