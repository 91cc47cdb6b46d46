/// Files of /proc as samples. Lines that are not as expected are left out; nothing fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/host/gathering.hpp"

namespace hondana::host {

void decode_stat(std::string_view text, gathering& to);     ///< /proc/stat
void decode_loadavg(std::string_view text, gathering& to);  ///< /proc/loadavg
void decode_meminfo(std::string_view text, gathering& to);  ///< /proc/meminfo
void decode_vmstat(std::string_view text, gathering& to);   ///< /proc/vmstat
void decode_file_nr(std::string_view text, gathering& to);  ///< /proc/sys/fs/file-nr
/// /proc/pressure/WHAT
void decode_pressure(std::string_view what, std::string_view text, gathering& to);
void decode_diskstats(std::string_view text, gathering& to);  ///< /proc/diskstats
void decode_net_dev(std::string_view text, gathering& to);    ///< /proc/net/dev
void decode_netstat(std::string_view text, gathering& to);    ///< /proc/net/netstat and /proc/net/snmp
void decode_snmp6(std::string_view text, gathering& to);      ///< /proc/net/snmp6
void decode_sockstat(std::string_view text, gathering& to);   ///< /proc/net/sockstat and sockstat6
void decode_softnet(std::string_view text, gathering& to);    ///< /proc/net/softnet_stat

/// A file system whose size is worth asking for.
struct mounted {
  std::string device{}, point{}, type{};
  bool is_read_only = false;
};
/// /proc/self/mounts without what node_exporter leaves out by default (the kernel's own file systems, places of the system and
/// of containers), and without those that could hang; at most 1024.
[[nodiscard]] std::vector<mounted> decode_mounts(std::string_view text);

/// A process, as /proc/PID/stat has it; times in clock ticks.
struct process_facts {
  std::string name{};  ///< Of its program, 15 bytes of it; printable.
  char state = '?';
  bool is_kernel = false;
  double user = 0, system = 0;
  double threads = 0;
  double start = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};
/// False: it is none.
[[nodiscard]] bool decode_process(std::string_view text, process_facts& into);

}  // namespace hondana::host
