/// Decodes files of /proc into samples: CPU, memory, disks, file systems, network and processes.
#include "sources/metrics/host/proc_decoders.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
namespace {

std::string as_utf8(std::string text) {
  if (series::is_utf8(text)) return text;
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

}  // namespace

void sample_sink::add(std::string_view name, series::kind kind, std::string_view help, double value,
                      std::vector<series::label> labels) {
  if (count_ >= max_samples) return;
  series::identity identity{std::string(name), std::move(labels)};
  for (auto& label : identity.labels) label.second = as_utf8(std::move(label.second));
  if (!series::normalize(identity)) return;
  ++count_;
  if (batch_.families.find(name) == batch_.families.end())
    batch_.families.emplace(identity.name,
                            series::metadata{kind, std::string(series::unit_from_name(name)), std::string(help)});
  batch_.entries.push_back({std::move(identity), {now_, value}});
}

namespace {

/// USER_HZ is 100 on all architectures that Linux supports.
constexpr double ticks_per_second = 100;

constexpr std::array<std::string_view, 8> modes{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
constexpr std::array<std::string_view, 2> guest_modes{"user", "nice"};

bool is_number_text(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void decode_cpu(std::string_view cpu, std::string_view line, sample_sink& sink) {
  for (const auto mode : modes) {
    const auto ticks = parse_number(next_word(line));
    if (!ticks) return;
    sink.counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.", *ticks / ticks_per_second,
                 {{"cpu", std::string(cpu)}, {"mode", std::string(mode)}});
  }
  for (const auto mode : guest_modes) {
    const auto ticks = parse_number(next_word(line));
    if (!ticks) return;
    sink.counter("node_cpu_guest_seconds_total", "Seconds the CPUs spent in guests (VMs) for each mode.",
                 *ticks / ticks_per_second, {{"cpu", std::string(cpu)}, {"mode", std::string(mode)}});
  }
}

/// The name of a memory field in node_exporter: `Active(anon)` becomes `Active_anon`.
std::string memory_field_name(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '(') out += '_';
    if (c != '(' && c != ')') out += c;
  }
  return out;
}

bool is_reported_vmstat(std::string_view key) noexcept {
  return key.starts_with("oom_kill") || key.starts_with("pgpg") || key.starts_with("pswp") ||
         (key.starts_with("pg") && key.find("fault") != std::string_view::npos);
}

}  // namespace

void decode_stat(std::string_view text, sample_sink& sink) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    if (key.starts_with("cpu")) {
      if (is_number_text(key.substr(3))) decode_cpu(key.substr(3), *line, sink);
      continue;
    }
    const auto value = parse_number(next_word(*line));
    if (!value) continue;
    if (key == "intr") sink.counter("node_intr_total", "Total number of interrupts serviced.", *value);
    if (key == "ctxt") sink.counter("node_context_switches_total", "Total number of context switches.", *value);
    if (key == "processes") sink.counter("node_forks_total", "Total number of forks.", *value);
    if (key == "btime") sink.gauge("node_boot_time_seconds", "Node boot time, in unixtime.", *value);
    if (key == "procs_running") sink.gauge("node_procs_running", "Number of processes in runnable state.", *value);
    if (key == "procs_blocked")
      sink.gauge("node_procs_blocked", "Number of processes blocked waiting for I/O to complete.", *value);
  }
}

void decode_loadavg(std::string_view text, sample_sink& sink) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> averages{
      {{"node_load1", "1m load average."}, {"node_load5", "5m load average."}, {"node_load15", "15m load average."}}};
  auto line = next_line(text).value_or(std::string_view());
  for (const auto& [name, help] : averages) {
    const auto value = parse_number(next_word(line));
    if (!value) return;
    sink.gauge(name, help, *value);
  }
}

void decode_meminfo(std::string_view text, sample_sink& sink) {
  constexpr double kibibyte = 1024;
  while (auto line = next_line(text)) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = line->substr(0, colon);
    line->remove_prefix(colon + 1);
    const auto value = parse_number(next_word(*line));
    if (!value) continue;
    const auto unit = next_word(*line);
    if (!unit.empty() && unit != "kB") continue;
    const bool has_unit = !unit.empty();
    const auto name = "node_memory_" + memory_field_name(key) + (has_unit ? "_bytes" : "");
    sink.gauge(name, "Memory information field " + name.substr(sizeof("node_memory_") - 1) + '.',
               has_unit ? *value * kibibyte : *value);
  }
}

void decode_vmstat(std::string_view text, sample_sink& sink) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    const auto value = parse_number(next_word(*line));
    if (!value || !is_reported_vmstat(key)) continue;
    sink.add("node_vmstat_" + std::string(key), series::kind::unknown,
             "/proc/vmstat information field " + std::string(key) + '.', *value);
  }
}

void decode_file_nr(std::string_view text, sample_sink& sink) {
  auto line = next_line(text).value_or(std::string_view());
  const auto allocated = parse_number(next_word(line));
  const auto unused = parse_number(next_word(line));
  const auto maximum = parse_number(next_word(line));
  if (!allocated || !unused || !maximum) return;
  sink.gauge("node_filefd_allocated", "File descriptor statistics: allocated.", *allocated);
  sink.gauge("node_filefd_maximum", "File descriptor statistics: maximum.", *maximum);
}

void decode_pressure(std::string_view resource, std::string_view text, sample_sink& sink) {
  constexpr std::string_view field = "total=";
  constexpr double microseconds = 1e6;
  while (auto line = next_line(text)) {
    const auto share = next_word(*line);
    const auto position = line->find(field);
    if (position == std::string_view::npos || (share != "some" && share != "full")) continue;
    // For the CPU, "full" has no meaning for the whole machine.
    if (resource == "cpu" && share == "full") continue;
    line->remove_prefix(position + field.size());
    const auto value = parse_number(next_word(*line));
    if (!value) continue;
    const bool is_some = share == "some";
    sink.counter("node_pressure_" + std::string(resource) + (is_some ? "_waiting_seconds_total" : "_stalled_seconds_total"),
                 is_some ? "Total time in seconds that processes have waited for " + std::string(resource) + '.'
                         : "Total time in seconds no process could make progress due to " + std::string(resource) + '.',
                 *value / microseconds);
  }
}

namespace {

struct disk_field {
  std::string_view name;
  std::string_view help;
  double factor = 1;
  bool is_gauge = false;
};
constexpr double sector = 512;
constexpr double milliseconds = 0.001;
/// In the order of the kernel's columns, from the fourth.
constexpr std::array<disk_field, 17> disk_fields{{
    {"node_disk_reads_completed_total", "The total number of reads completed successfully."},
    {"node_disk_reads_merged_total", "The total number of reads merged."},
    {"node_disk_read_bytes_total", "The total number of bytes read successfully.", sector},
    {"node_disk_read_time_seconds_total", "The total number of seconds spent by all reads.", milliseconds},
    {"node_disk_writes_completed_total", "The total number of writes completed successfully."},
    {"node_disk_writes_merged_total", "The number of writes merged."},
    {"node_disk_written_bytes_total", "The total number of bytes written successfully.", sector},
    {"node_disk_write_time_seconds_total", "The total number of seconds spent by all writes.", milliseconds},
    {"node_disk_io_now", "The number of I/Os currently in progress.", 1, true},
    {"node_disk_io_time_seconds_total", "Total seconds spent doing I/Os.", milliseconds},
    {"node_disk_io_time_weighted_seconds_total", "The weighted number of seconds spent doing I/Os.", milliseconds},
    {"node_disk_discards_completed_total", "The total number of discards completed successfully."},
    {"node_disk_discards_merged_total", "The total number of discards merged."},
    {"node_disk_discarded_sectors_total", "The total number of sectors discarded successfully."},
    {"node_disk_discard_time_seconds_total", "The total number of seconds spent by all discards.", milliseconds},
    {"node_disk_flush_requests_total", "The total number of flush requests completed successfully."},
    {"node_disk_flush_requests_time_seconds_total", "The total number of seconds spent by all flush requests.", milliseconds},
}};

/// Partitions and pseudo devices, which node_exporter leaves out by default.
bool is_ignored_device(std::string_view device) noexcept {
  auto stem = device;
  while (!stem.empty() && ascii::is_digit(stem.back())) stem.remove_suffix(1);
  if (stem.size() == device.size()) return false;
  if (stem == "ram" || stem == "loop" || stem == "fd") return true;
  for (const std::string_view prefix : {"hd", "sd", "vd", "xvd"}) {
    if (stem.size() == prefix.size() + 1 && stem.starts_with(prefix) && stem.back() >= 'a' && stem.back() <= 'z') return true;
  }
  return stem.starts_with("nvme") && stem.ends_with('p') && stem.find('n', 4) != std::string_view::npos;
}

constexpr std::array<std::string_view, 25> kernel_types{
    "autofs",     "binfmt_misc", "bpf",    "cgroup",  "cgroup2",  "configfs", "debugfs", "devpts", "devtmpfs",
    "fusectl",    "hugetlbfs",   "mqueue", "nsfs",    "overlay",  "proc",     "procfs",  "pstore", "rpc_pipefs",
    "securityfs", "selinuxfs",   "sysfs",  "iso9660", "squashfs", "tracefs",  "efivarfs"};
/// File systems whose servers may be unreachable: statfs would wait for them.
constexpr std::array<std::string_view, 16> hanging_types{"nfs",      "nfs4",      "cifs",  "smb3",   "smbfs", "9p",
                                                         "ceph",     "glusterfs", "afs",   "lustre", "ncpfs", "coda",
                                                         "virtiofs", "orangefs",  "davfs", "gfs2"};
constexpr std::array<std::string_view, 6> system_mount_points{"/dev", "/proc",           "/run",
                                                              "/sys", "/var/lib/docker", "/var/lib/containers/storage"};

template <class List>
bool contains(const List& list, std::string_view value) noexcept {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_system_mount_point(std::string_view point) noexcept {
  return std::any_of(system_mount_points.begin(), system_mount_points.end(), [point](std::string_view prefix) {
    return point.starts_with(prefix) && (point.size() == prefix.size() || point[prefix.size()] == '/');
  });
}

/// Resolves the octal escapes of blanks, tabs, line feeds and backslashes.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t index) { return index < text.size() && text[index] >= '0' && text[index] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && text[i + 1] <= '3' && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

constexpr std::size_t max_mounts = 1024;
constexpr std::size_t max_path_bytes = 4096;

}  // namespace

void decode_diskstats(std::string_view text, sample_sink& sink) {
  while (const auto line = next_line(text)) {
    const auto words = split_words(*line);
    constexpr std::size_t name_columns = 3;
    if (words.size() < name_columns + 1 || is_ignored_device(words[2])) continue;
    for (std::size_t i = 0; i < disk_fields.size() && name_columns + i < words.size(); ++i) {
      const auto value = parse_number(words[name_columns + i]);
      if (!value) break;
      const auto& field = disk_fields[i];
      sink.add(field.name, field.is_gauge ? series::kind::gauge : series::kind::counter, field.help, *value * field.factor,
               {{"device", std::string(words[2])}});
    }
  }
}

std::vector<mount_entry> decode_mounts(std::string_view text) {
  std::map<std::string, mount_entry, std::less<>> by_point;
  while (auto line = next_line(text)) {
    const auto device = next_word(*line);
    const auto point = next_word(*line);
    const auto type = next_word(*line);
    const auto mount_options = next_word(*line);
    if (mount_options.empty() || point.size() > max_path_bytes || device.size() > max_path_bytes ||
        contains(kernel_types, type) || contains(hanging_types, type) || type.starts_with("fuse"))
      continue;
    mount_entry mount{unescape(device), unescape(point), std::string(type),
                      mount_options == "ro" || mount_options.starts_with("ro,")};
    if (!mount.point.starts_with('/') || mount.point.find('\0') != std::string::npos || is_system_mount_point(mount.point))
      continue;
    if (by_point.size() == max_mounts) break;
    // A later mount on the same mount point hides the earlier one.
    auto key = mount.point;
    by_point.insert_or_assign(std::move(key), std::move(mount));
  }
  std::vector<mount_entry> visible;
  visible.reserve(by_point.size());
  for (auto& [point, mount] : by_point) visible.push_back(std::move(mount));
  return visible;
}

namespace {

constexpr std::array<std::string_view, 16> device_fields{
    "receive_bytes",      "receive_packets",   "receive_errs",     "receive_drop",       "receive_fifo",  "receive_frame",
    "receive_compressed", "receive_multicast", "transmit_bytes",   "transmit_packets",   "transmit_errs", "transmit_drop",
    "transmit_fifo",      "transmit_colls",    "transmit_carrier", "transmit_compressed"};

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& list) noexcept {
  return std::find(list.begin(), list.end(), text) != list.end();
}

constexpr std::array<std::string_view, 7> tcp_fields{"ActiveOpens",  "InSegs",      "OutSegs",  "OutRsts",
                                                     "PassiveOpens", "RetransSegs", "CurrEstab"};
constexpr std::array<std::string_view, 5> udp_fields{"InDatagrams", "OutDatagrams", "NoPorts", "RcvbufErrors", "SndbufErrors"};

/// The statistics that node_exporter reports, out of hundreds.
bool is_reported(std::string_view protocol, std::string_view key) noexcept {
  if (key == "InErrors" || key == "InErrs") return true;
  if (protocol == "Ip" && key == "Forwarding") return true;
  if (protocol == "Ip6" || protocol == "IpExt") return key == "InOctets" || key == "OutOctets";
  if (protocol == "Icmp" || protocol == "Icmp6") return key == "InMsgs" || key == "OutMsgs";
  if (protocol == "TcpExt")
    return key.starts_with("Listen") || key.starts_with("Syncookies") || key == "TCPSynRetrans" || key == "TCPTimeouts";
  if (protocol == "Tcp") return is_one_of(key, tcp_fields);
  return (protocol == "Udp" || protocol == "Udp6") && is_one_of(key, udp_fields);
}

void add_protocol(std::string_view protocol, std::string_view key, double value, sample_sink& sink) {
  if (!is_reported(protocol, key)) return;
  const auto name = std::string(protocol) + '_' + std::string(key);
  sink.add("node_netstat_" + name, series::kind::unknown, "Statistic " + std::string(protocol) + std::string(key) + '.', value);
}

}  // namespace

void decode_net_dev(std::string_view text, sample_sink& sink) {
  while (auto line = next_line(text)) {
    const auto colon = line->rfind(':');
    if (colon == std::string_view::npos) continue;
    const auto device = trim(line->substr(0, colon));
    line->remove_prefix(colon + 1);
    if (device.empty()) continue;
    for (const auto field : device_fields) {
      const auto value = parse_number(next_word(*line));
      if (!value) break;
      sink.counter("node_network_" + std::string(field) + "_total", "Network device statistic " + std::string(field) + '.',
                   *value, {{"device", std::string(device)}});
    }
  }
}

void decode_netstat(std::string_view text, sample_sink& sink) {
  while (auto keys = next_line(text)) {
    auto values = next_line(text);
    if (!values) return;
    const auto protocol = next_word(*keys);
    // Each protocol has two lines. If two lines do not match, the rest cannot be trusted.
    if (!protocol.ends_with(':') || next_word(*values) != protocol) return;
    for (;;) {
      const auto key = next_word(*keys);
      const auto value = parse_number(next_word(*values));
      if (key.empty() || !value) break;
      add_protocol(protocol.substr(0, protocol.size() - 1), key, *value, sink);
    }
  }
}

void decode_snmp6(std::string_view text, sample_sink& sink) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    const auto value = parse_number(next_word(*line));
    const auto six = key.find('6');
    if (!value || six == std::string_view::npos) continue;
    add_protocol(key.substr(0, six + 1), key.substr(six + 1), *value, sink);
  }
}

void decode_sockstat(std::string_view text, sample_sink& sink) {
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  while (auto line = next_line(text)) {
    auto protocol = next_word(*line);
    if (!protocol.ends_with(':')) continue;
    protocol.remove_suffix(1);
    for (;;) {
      const auto key = next_word(*line);
      const auto value = parse_number(next_word(*line));
      if (key.empty() || !value) break;
      const auto name = std::string(protocol) + '_' + std::string(key);
      sink.gauge("node_sockstat_" + name,
                 protocol == "sockets" ? "Number of IPv4 sockets in use."
                                       : "Number of " + std::string(protocol) + " sockets in state " + std::string(key) + '.',
                 *value);
      if (key == "mem")
        sink.gauge("node_sockstat_" + name + "_bytes",
                   "Number of " + std::string(protocol) + " sockets in state " + std::string(key) + "_bytes.", *value * page);
    }
  }
}

void decode_softnet(std::string_view text, sample_sink& sink) {
  constexpr std::size_t cpu_column = 12;
  std::size_t row = 0;
  while (const auto line = next_line(text)) {
    const auto words = split_words(*line);
    if (words.size() < 3) continue;
    const auto cpu_index = words.size() > cpu_column ? parse_hexadecimal(words[cpu_column]) : std::nullopt;
    const std::vector<series::label> cpu{{"cpu", std::to_string(cpu_index ? static_cast<std::uint64_t>(*cpu_index) : row)}};
    ++row;
    const auto processed = parse_hexadecimal(words[0]);
    const auto dropped = parse_hexadecimal(words[1]);
    const auto squeezed = parse_hexadecimal(words[2]);
    if (!processed || !dropped || !squeezed) continue;
    sink.counter("node_softnet_processed_total", "Number of processed packets", *processed, cpu);
    sink.counter("node_softnet_dropped_total", "Number of dropped packets", *dropped, cpu);
    sink.counter("node_softnet_times_squeezed_total", "Number of times processing packets ran out of quota", *squeezed, cpu);
  }
}

namespace {

constexpr double clock_ticks = 100;
constexpr unsigned long kernel_flag = 0x00200000;

std::vector<int> list_process_ids(const std::string& proc) {
  std::vector<int> out;
  disk::dir_stream directory(disk::handle(::open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  while (const auto* const entry = directory.next()) {
    const std::string_view name(entry->d_name);
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid <= 0) continue;
    if (out.size() == process_collector::max_processes) break;
    out.push_back(pid);
  }
  return out;
}

}  // namespace

bool decode_process(std::string_view text, process_stat& output) {
  // The name may contain any character, even parentheses and line feeds.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  output.name.clear();
  constexpr std::size_t max_name_bytes = 64;
  for (const char c : text.substr(open + 1, std::min(close - open - 1, max_name_bytes)))
    output.name += c >= ' ' && c != 0x7f ? c : '?';
  const auto words = split_words(text.substr(close + 1));
  // Field numbers are those of proc(5). The first field after the name is number 3.
  constexpr std::size_t first_field = 3;
  const auto field = [&](std::size_t number) -> std::optional<double> {
    if (number - first_field >= words.size()) return std::nullopt;
    return parse_number(words[number - first_field]);
  };
  if (words.empty() || words[0].size() != 1) return false;
  output.state = words[0][0];
  const auto flags = field(9);
  const auto user = field(14);
  const auto system = field(15);
  const auto threads = field(20);
  const auto start = field(22);
  const auto size = field(23);
  const auto pages = field(24);
  if (!flags || !user || !system || !threads || !start || !size || !pages || *flags < 0 || *flags > 4294967295.0) return false;
  output.is_kernel = (static_cast<unsigned long>(*flags) & kernel_flag) != 0;
  output.user = *user;
  output.system = *system;
  output.threads = *threads;
  output.start = *start;
  output.virtual_bytes = *size;
  output.resident_pages = *pages;
  return true;
}

void process_collector::collect(const std::string& proc, std::size_t max_process_names, sample_sink& sink) {
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::map<process_key, times> alive;
  std::map<char, double> states;
  double count = 0;
  double threads = 0;
  for (auto& [name, entry] : groups_) entry = {.total = entry.total};
  process_stat process;
  for (const int pid : list_process_ids(proc)) {
    const auto text = read_text(proc + '/' + std::to_string(pid) + "/stat");
    if (!text || !decode_process(*text, process)) continue;
    ++count;
    ++states[process.state];
    threads += process.threads;
    if (max_process_names == 0 || process.is_kernel || process.name.empty()) continue;
    const process_key key{pid, process.start};
    const times cpu_times{process.user / clock_ticks, process.system / clock_ticks};
    const auto previous = times_.find(key);
    const auto previous_times = previous == times_.end() ? times{} : previous->second;
    auto& totals = groups_[process.name];
    const double user = std::max(0.0, cpu_times.user - previous_times.user);
    const double system = std::max(0.0, cpu_times.system - previous_times.system);
    totals.total.user += user;
    totals.total.system += system;
    totals.recent += user + system;
    totals.count += 1;
    totals.threads += process.threads;
    totals.resident += process.resident_pages * page;
    totals.virtual_size += process.virtual_bytes;
    alive.emplace(key, cpu_times);
  }
  times_ = std::move(alive);
  std::erase_if(groups_, [](const auto& item) { return item.second.count == 0; });
  if (count == 0) return;
  sink.gauge("node_processes_pids", "Number of PIDs", count);
  sink.gauge("node_processes_threads", "Allocated threads in system", threads);
  for (const auto& [state, value] : states)
    sink.gauge("node_processes_state", "Number of processes in each state.", value, {{"state", std::string(1, state)}});

  // Report half of the names by memory, and the rest by the CPU time since the previous call.
  std::vector<const std::pair<const std::string, group>*> order;
  order.reserve(groups_.size());
  for (const auto& candidate : groups_) order.push_back(&candidate);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.resident > b->second.resident; });
  const auto by_memory = std::min(order.size(), (max_process_names + 1) / 2);
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(by_memory), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.recent, a->second.resident) > std::pair(b->second.recent, b->second.resident);
  });
  order.resize(std::min(order.size(), max_process_names));
  for (const auto* selected : order) add(selected->second, selected->first, sink);
}

void process_collector::add(const group& totals, const std::string& name, sample_sink& sink) const {
  const auto make_labels = [&name](std::string_view key = {}, std::string_view value = {}) {
    std::vector<series::label> out{{"groupname", name}};
    if (!key.empty()) out.emplace_back(key, value);
    return out;
  };
  sink.gauge("namedprocess_namegroup_num_procs", "number of processes in this group", totals.count, make_labels());
  sink.gauge("namedprocess_namegroup_num_threads", "Number of threads", totals.threads, make_labels());
  sink.counter("namedprocess_namegroup_cpu_seconds_total", "Cpu user usage in seconds", totals.total.user,
               make_labels("mode", "user"));
  sink.counter("namedprocess_namegroup_cpu_seconds_total", "Cpu user usage in seconds", totals.total.system,
               make_labels("mode", "system"));
  sink.gauge("namedprocess_namegroup_memory_bytes", "number of bytes of memory in use", totals.resident,
             make_labels("memtype", "resident"));
  sink.gauge("namedprocess_namegroup_memory_bytes", "number of bytes of memory in use", totals.virtual_size,
             make_labels("memtype", "virtual"));
}

}  // namespace hondana::host
