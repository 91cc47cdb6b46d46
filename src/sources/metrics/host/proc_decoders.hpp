/// Decodes files of /proc into samples: CPU, memory, disks, file systems, network and processes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/metrics/samples/store.hpp"

namespace hondana::host {

/// Adds samples and their metadata to a batch. Threads: one at a time.
class sample_sink {
 public:
  static constexpr std::size_t max_samples = 50'000;

  /// `now`: the time of all samples. `batch`: must outlive this object.
  sample_sink(series::instant now, samples::batch& batch) noexcept : batch_(batch), now_(now) {}

  /// Adds a sample. Ignores samples with an invalid name or label, and those beyond `max_samples`. In label values that are not
  /// UTF-8, replaces bytes that are not ASCII.
  void add(std::string_view name, series::kind kind, std::string_view help, double value,
           std::vector<series::label> labels = {});
  void counter(std::string_view name, std::string_view help, double value, std::vector<series::label> labels = {}) {
    add(name, series::kind::counter, help, value, std::move(labels));
  }
  void gauge(std::string_view name, std::string_view help, double value, std::vector<series::label> labels = {}) {
    add(name, series::kind::gauge, help, value, std::move(labels));
  }
  [[nodiscard]] series::instant now() const noexcept { return now_; }

 private:
  samples::batch& batch_;
  series::instant now_;
  std::size_t count_ = 0;
};

// Each function decodes the text of one file. It leaves out what it does not recognize.
void decode_stat(std::string_view text, sample_sink& sink);     ///< /proc/stat
void decode_loadavg(std::string_view text, sample_sink& sink);  ///< /proc/loadavg
void decode_meminfo(std::string_view text, sample_sink& sink);  ///< /proc/meminfo
void decode_vmstat(std::string_view text, sample_sink& sink);   ///< /proc/vmstat
void decode_file_nr(std::string_view text, sample_sink& sink);  ///< /proc/sys/fs/file-nr
/// /proc/pressure/RESOURCE. `resource`: "cpu", "io" or "memory".
void decode_pressure(std::string_view resource, std::string_view text, sample_sink& sink);
void decode_diskstats(std::string_view text, sample_sink& sink);  ///< /proc/diskstats
void decode_net_dev(std::string_view text, sample_sink& sink);    ///< /proc/net/dev
void decode_netstat(std::string_view text, sample_sink& sink);    ///< /proc/net/netstat and /proc/net/snmp
void decode_snmp6(std::string_view text, sample_sink& sink);      ///< /proc/net/snmp6
void decode_sockstat(std::string_view text, sample_sink& sink);   ///< /proc/net/sockstat and sockstat6
void decode_softnet(std::string_view text, sample_sink& sink);    ///< /proc/net/softnet_stat

/// A mounted file system.
struct mount_entry {
  std::string device{}, point{}, type{};  ///< `point`: the mount point.
  bool is_read_only = false;
};
/// Decodes /proc/self/mounts. Leaves out the file systems that node_exporter ignores by default: those of the kernel, and
/// mounts of the system and of containers. Also leaves out file systems that can hang. Returns at most 1024.
[[nodiscard]] std::vector<mount_entry> decode_mounts(std::string_view text);

/// The contents of /proc/PID/stat.
struct process_stat {
  std::string name{};           ///< Name of the program, which the kernel cuts to 15 bytes. Control characters are replaced.
  char state = '?';             ///< "R", "S" and so on; see proc(5).
  bool is_kernel = false;       ///< A thread of the kernel.
  double user = 0, system = 0;  ///< CPU time in clock ticks.
  double threads = 0;
  double start = 0;  ///< Time of its start after the boot, in clock ticks.
  double virtual_bytes = 0;
  double resident_pages = 0;
};
/// Decodes /proc/PID/stat. Returns false if `text` is malformed; `output` is then unspecified.
[[nodiscard]] bool decode_process(std::string_view text, process_stat& output);

/// Reads the processes of this machine, grouped by name. Threads: one at a time.
class process_collector {
 public:
  static constexpr std::size_t max_processes = 32'768;  ///< Further processes are ignored.

  /// Adds the numbers of processes by state, and the metrics of up to `max_process_names` process names (see
  /// `options::max_processes`). `proc`: the folder.
  void collect(const std::string& proc, std::size_t max_process_names, sample_sink& sink);

 private:
  struct times {  // CPU seconds
    double user = 0, system = 0;
  };
  // The processes of one name.
  struct group {
    times total{};      // of its living processes, and of those that have ended while others lived
    double recent = 0;  // CPU seconds since the previous call
    double count = 0, threads = 0, resident = 0, virtual_size = 0;
  };
  using process_key = std::pair<int, double>;  // process ID and start time, since process IDs are reused

  /// Adds the metrics of one name.
  void add(const group& totals, const std::string& name, sample_sink& sink) const;

  std::map<process_key, times> times_{};  // at the previous call
  std::map<std::string, group> groups_{};
};

}  // namespace hondana::host
