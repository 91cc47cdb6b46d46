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

void gathering::add(std::string_view name, series::kind of, std::string_view help, double value,
                    std::vector<series::label> labels) {
  if (count_ >= most_samples) return;
  series::identity identity{std::string(name), std::move(labels)};
  for (auto& one : identity.labels) one.second = as_utf8(std::move(one.second));
  if (!series::normalise(identity)) return;
  ++count_;
  if (into_.families.find(name) == into_.families.end())
    into_.families.emplace(identity.name, series::metadata{of, std::string(series::unit_in(name)), std::string(help)});
  into_.entries.push_back({std::move(identity), {now_, value}});
}

namespace {

/// USER_HZ is 100 on all architectures that Linux supports.
constexpr double ticks_per_second = 100;

constexpr std::array<std::string_view, 8> modes{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
constexpr std::array<std::string_view, 2> guest_modes{"user", "nice"};

bool is_number_text(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void decode_cpu(std::string_view cpu, std::string_view rest, gathering& to) {
  for (const auto mode : modes) {
    const auto ticks = number_in(next_word(rest));
    if (!ticks) return;
    to.counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.", *ticks / ticks_per_second,
               {{"cpu", std::string(cpu)}, {"mode", std::string(mode)}});
  }
  for (const auto mode : guest_modes) {
    const auto ticks = number_in(next_word(rest));
    if (!ticks) return;
    to.counter("node_cpu_guest_seconds_total", "Seconds the CPUs spent in guests (VMs) for each mode.",
               *ticks / ticks_per_second, {{"cpu", std::string(cpu)}, {"mode", std::string(mode)}});
  }
}

/// The name of a memory field in node_exporter: `Active(anon)` becomes `Active_anon`.
std::string name_of_memory(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '(') out += '_';
    if (c != '(' && c != ')') out += c;
  }
  return out;
}

bool is_shown_of_vmstat(std::string_view key) noexcept {
  return key.starts_with("oom_kill") || key.starts_with("pgpg") || key.starts_with("pswp") ||
         (key.starts_with("pg") && key.find("fault") != std::string_view::npos);
}

}  // namespace

void decode_stat(std::string_view text, gathering& to) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    if (key.starts_with("cpu")) {
      if (is_number_text(key.substr(3))) decode_cpu(key.substr(3), *line, to);
      continue;
    }
    const auto value = number_in(next_word(*line));
    if (!value) continue;
    if (key == "intr") to.counter("node_intr_total", "Total number of interrupts serviced.", *value);
    if (key == "ctxt") to.counter("node_context_switches_total", "Total number of context switches.", *value);
    if (key == "processes") to.counter("node_forks_total", "Total number of forks.", *value);
    if (key == "btime") to.gauge("node_boot_time_seconds", "Node boot time, in unixtime.", *value);
    if (key == "procs_running") to.gauge("node_procs_running", "Number of processes in runnable state.", *value);
    if (key == "procs_blocked")
      to.gauge("node_procs_blocked", "Number of processes blocked waiting for I/O to complete.", *value);
  }
}

void decode_loadavg(std::string_view text, gathering& to) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> spans{
      {{"node_load1", "1m load average."}, {"node_load5", "5m load average."}, {"node_load15", "15m load average."}}};
  auto line = next_line(text).value_or(std::string_view());
  for (const auto& [name, help] : spans) {
    const auto value = number_in(next_word(line));
    if (!value) return;
    to.gauge(name, help, *value);
  }
}

void decode_meminfo(std::string_view text, gathering& to) {
  constexpr double kibibyte = 1024;
  while (auto line = next_line(text)) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = line->substr(0, colon);
    line->remove_prefix(colon + 1);
    const auto value = number_in(next_word(*line));
    if (!value) continue;
    const auto unit = next_word(*line);
    if (!unit.empty() && unit != "kB") continue;
    const bool has_unit = !unit.empty();
    const auto name = "node_memory_" + name_of_memory(key) + (has_unit ? "_bytes" : "");
    to.gauge(name, "Memory information field " + name.substr(sizeof("node_memory_") - 1) + '.',
             has_unit ? *value * kibibyte : *value);
  }
}

void decode_vmstat(std::string_view text, gathering& to) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    const auto value = number_in(next_word(*line));
    if (!value || !is_shown_of_vmstat(key)) continue;
    to.add("node_vmstat_" + std::string(key), series::kind::unknown, "/proc/vmstat information field " + std::string(key) + '.',
           *value);
  }
}

void decode_file_nr(std::string_view text, gathering& to) {
  auto line = next_line(text).value_or(std::string_view());
  const auto allocated = number_in(next_word(line));
  const auto unused = number_in(next_word(line));
  const auto most = number_in(next_word(line));
  if (!allocated || !unused || !most) return;
  to.gauge("node_filefd_allocated", "File descriptor statistics: allocated.", *allocated);
  to.gauge("node_filefd_maximum", "File descriptor statistics: maximum.", *most);
}

void decode_pressure(std::string_view what, std::string_view text, gathering& to) {
  constexpr std::string_view field = "total=";
  constexpr double microseconds = 1e6;
  while (auto line = next_line(text)) {
    const auto share = next_word(*line);
    const auto at = line->find(field);
    if (at == std::string_view::npos || (share != "some" && share != "full")) continue;
    // For the CPU, "full" has no meaning for the whole machine.
    if (what == "cpu" && share == "full") continue;
    line->remove_prefix(at + field.size());
    const auto value = number_in(next_word(*line));
    if (!value) continue;
    const bool is_some = share == "some";
    to.counter("node_pressure_" + std::string(what) + (is_some ? "_waiting_seconds_total" : "_stalled_seconds_total"),
               is_some ? "Total time in seconds that processes have waited for " + std::string(what) + '.'
                       : "Total time in seconds no process could make progress due to " + std::string(what) + '.',
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
bool is_left_out(std::string_view device) noexcept {
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
constexpr std::array<std::string_view, 6> places_of_system{"/dev", "/proc",           "/run",
                                                           "/sys", "/var/lib/docker", "/var/lib/containers/storage"};

template <class List>
bool has(const List& list, std::string_view one) noexcept {
  return std::find(list.begin(), list.end(), one) != list.end();
}

bool is_place_of_system(std::string_view point) noexcept {
  return std::any_of(places_of_system.begin(), places_of_system.end(), [point](std::string_view place) {
    return point.starts_with(place) && (point.size() == place.size() || point[place.size()] == '/');
  });
}

/// Resolves the octal escapes of blanks, tabs, line feeds and backslashes.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && text[i + 1] <= '3' && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

constexpr std::size_t most_mounts = 1024;
constexpr std::size_t longest_path = 4096;

}  // namespace

void decode_diskstats(std::string_view text, gathering& to) {
  while (const auto line = next_line(text)) {
    const auto words = words_of(*line);
    constexpr std::size_t names = 3;
    if (words.size() < names + 1 || is_left_out(words[2])) continue;
    for (std::size_t i = 0; i < disk_fields.size() && names + i < words.size(); ++i) {
      const auto value = number_in(words[names + i]);
      if (!value) break;
      const auto& field = disk_fields[i];
      to.add(field.name, field.is_gauge ? series::kind::gauge : series::kind::counter, field.help, *value * field.factor,
             {{"device", std::string(words[2])}});
    }
  }
}

std::vector<mounted> decode_mounts(std::string_view text) {
  std::map<std::string, mounted, std::less<>> by_point;
  while (auto line = next_line(text)) {
    const auto device = next_word(*line);
    const auto point = next_word(*line);
    const auto type = next_word(*line);
    const auto how = next_word(*line);
    if (how.empty() || point.size() > longest_path || device.size() > longest_path || has(kernel_types, type) ||
        has(hanging_types, type) || type.starts_with("fuse"))
      continue;
    mounted one{unescaped(device), unescaped(point), std::string(type), how == "ro" || how.starts_with("ro,")};
    if (!one.point.starts_with('/') || one.point.find('\0') != std::string::npos || is_place_of_system(one.point)) continue;
    if (by_point.size() == most_mounts) break;
    // A later mount on the same mount point hides the earlier one.
    auto point_of = one.point;
    by_point.insert_or_assign(std::move(point_of), std::move(one));
  }
  std::vector<mounted> visible;
  visible.reserve(by_point.size());
  for (auto& [point, one] : by_point) visible.push_back(std::move(one));
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

constexpr std::array<std::string_view, 7> tcp_shown{"ActiveOpens",  "InSegs",      "OutSegs",  "OutRsts",
                                                    "PassiveOpens", "RetransSegs", "CurrEstab"};
constexpr std::array<std::string_view, 5> udp_shown{"InDatagrams", "OutDatagrams", "NoPorts", "RcvbufErrors", "SndbufErrors"};

/// The statistics that node_exporter reports, out of hundreds.
bool is_shown(std::string_view protocol, std::string_view key) noexcept {
  if (key == "InErrors" || key == "InErrs") return true;
  if (protocol == "Ip" && key == "Forwarding") return true;
  if (protocol == "Ip6" || protocol == "IpExt") return key == "InOctets" || key == "OutOctets";
  if (protocol == "Icmp" || protocol == "Icmp6") return key == "InMsgs" || key == "OutMsgs";
  if (protocol == "TcpExt")
    return key.starts_with("Listen") || key.starts_with("Syncookies") || key == "TCPSynRetrans" || key == "TCPTimeouts";
  if (protocol == "Tcp") return is_one_of(key, tcp_shown);
  return (protocol == "Udp" || protocol == "Udp6") && is_one_of(key, udp_shown);
}

void add_protocol(std::string_view protocol, std::string_view key, double value, gathering& to) {
  if (!is_shown(protocol, key)) return;
  const auto name = std::string(protocol) + '_' + std::string(key);
  to.add("node_netstat_" + name, series::kind::unknown, "Statistic " + std::string(protocol) + std::string(key) + '.', value);
}

}  // namespace

void decode_net_dev(std::string_view text, gathering& to) {
  while (auto line = next_line(text)) {
    const auto colon = line->rfind(':');
    if (colon == std::string_view::npos) continue;
    const auto device = without_blanks(line->substr(0, colon));
    line->remove_prefix(colon + 1);
    if (device.empty()) continue;
    for (const auto field : device_fields) {
      const auto value = number_in(next_word(*line));
      if (!value) break;
      to.counter("node_network_" + std::string(field) + "_total", "Network device statistic " + std::string(field) + '.',
                 *value, {{"device", std::string(device)}});
    }
  }
}

void decode_netstat(std::string_view text, gathering& to) {
  while (auto keys = next_line(text)) {
    auto values = next_line(text);
    if (!values) return;
    const auto protocol = next_word(*keys);
    // Each protocol has two lines. If two lines do not match, the rest cannot be trusted.
    if (!protocol.ends_with(':') || next_word(*values) != protocol) return;
    for (;;) {
      const auto key = next_word(*keys);
      const auto value = number_in(next_word(*values));
      if (key.empty() || !value) break;
      add_protocol(protocol.substr(0, protocol.size() - 1), key, *value, to);
    }
  }
}

void decode_snmp6(std::string_view text, gathering& to) {
  while (auto line = next_line(text)) {
    const auto key = next_word(*line);
    const auto value = number_in(next_word(*line));
    const auto six = key.find('6');
    if (!value || six == std::string_view::npos) continue;
    add_protocol(key.substr(0, six + 1), key.substr(six + 1), *value, to);
  }
}

void decode_sockstat(std::string_view text, gathering& to) {
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  while (auto line = next_line(text)) {
    auto protocol = next_word(*line);
    if (!protocol.ends_with(':')) continue;
    protocol.remove_suffix(1);
    for (;;) {
      const auto key = next_word(*line);
      const auto value = number_in(next_word(*line));
      if (key.empty() || !value) break;
      const auto what = std::string(protocol) + '_' + std::string(key);
      to.gauge("node_sockstat_" + what,
               protocol == "sockets" ? "Number of IPv4 sockets in use."
                                     : "Number of " + std::string(protocol) + " sockets in state " + std::string(key) + '.',
               *value);
      if (key == "mem")
        to.gauge("node_sockstat_" + what + "_bytes",
                 "Number of " + std::string(protocol) + " sockets in state " + std::string(key) + "_bytes.", *value * page);
    }
  }
}

void decode_softnet(std::string_view text, gathering& to) {
  constexpr std::size_t cpu_column = 12;
  std::size_t row = 0;
  while (const auto line = next_line(text)) {
    const auto words = words_of(*line);
    if (words.size() < 3) continue;
    const auto own = words.size() > cpu_column ? hexadecimal_in(words[cpu_column]) : std::nullopt;
    const std::vector<series::label> cpu{{"cpu", std::to_string(own ? static_cast<std::uint64_t>(*own) : row)}};
    ++row;
    const auto processed = hexadecimal_in(words[0]);
    const auto dropped = hexadecimal_in(words[1]);
    const auto squeezed = hexadecimal_in(words[2]);
    if (!processed || !dropped || !squeezed) continue;
    to.counter("node_softnet_processed_total", "Number of processed packets", *processed, cpu);
    to.counter("node_softnet_dropped_total", "Number of dropped packets", *dropped, cpu);
    to.counter("node_softnet_times_squeezed_total", "Number of times processing packets ran out of quota", *squeezed, cpu);
  }
}

namespace {

constexpr double clock_ticks = 100;
constexpr unsigned long kernel_flag = 0x00200000;

std::vector<int> process_numbers(const std::string& proc) {
  std::vector<int> out;
  const auto all = disk::stream_of(disk::handle(::open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  while (const auto* const one = all ? ::readdir(all.get()) : nullptr) {
    const std::string_view name(one->d_name);
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number <= 0) continue;
    if (out.size() == processes::most) break;
    out.push_back(number);
  }
  return out;
}

}  // namespace

bool decode_process(std::string_view text, process_facts& into) {
  // The name may contain any character, even parentheses and line feeds.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  into.name.clear();
  constexpr std::size_t longest_name = 64;
  for (const char c : text.substr(open + 1, std::min(close - open - 1, longest_name)))
    into.name += c >= ' ' && c != 0x7f ? c : '?';
  const auto words = words_of(text.substr(close + 1));
  // Field numbers are those of proc(5). The first field after the name is number 3.
  constexpr std::size_t first = 3;
  const auto field = [&](std::size_t number) -> std::optional<double> {
    if (number - first >= words.size()) return std::nullopt;
    return number_in(words[number - first]);
  };
  if (words.empty() || words[0].size() != 1) return false;
  into.state = words[0][0];
  const auto flags = field(9);
  const auto user = field(14);
  const auto system = field(15);
  const auto threads = field(20);
  const auto start = field(22);
  const auto size = field(23);
  const auto pages = field(24);
  if (!flags || !user || !system || !threads || !start || !size || !pages || *flags < 0 || *flags > 4294967295.0) return false;
  into.is_kernel = (static_cast<unsigned long>(*flags) & kernel_flag) != 0;
  into.user = *user;
  into.system = *system;
  into.threads = *threads;
  into.start = *start;
  into.virtual_bytes = *size;
  into.resident_pages = *pages;
  return true;
}

void processes::look(const std::string& proc, std::size_t names, gathering& to) {
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::map<process_key, times> alive;
  std::map<char, double> states;
  double count = 0;
  double threads = 0;
  for (auto& [name, one] : groups_) one = {.total = one.total};
  process_facts facts;
  for (const int number : process_numbers(proc)) {
    const auto text = read_text(proc + '/' + std::to_string(number) + "/stat");
    if (!text || !decode_process(*text, facts)) continue;
    ++count;
    ++states[facts.state];
    threads += facts.threads;
    if (names == 0 || facts.is_kernel || facts.name.empty()) continue;
    const process_key key{number, facts.start};
    const times now{facts.user / clock_ticks, facts.system / clock_ticks};
    const auto before = known_.find(key);
    const auto old = before == known_.end() ? times{} : before->second;
    auto& named = groups_[facts.name];
    const double user = std::max(0.0, now.user - old.user);
    const double system = std::max(0.0, now.system - old.system);
    named.total.user += user;
    named.total.system += system;
    named.recently += user + system;
    named.count += 1;
    named.threads += facts.threads;
    named.resident += facts.resident_pages * page;
    named.virtual_size += facts.virtual_bytes;
    alive.emplace(key, now);
  }
  known_ = std::move(alive);
  std::erase_if(groups_, [](const auto& one) { return one.second.count == 0; });
  if (count == 0) return;
  to.gauge("node_processes_pids", "Number of PIDs", count);
  to.gauge("node_processes_threads", "Allocated threads in system", threads);
  for (const auto& [state, value] : states)
    to.gauge("node_processes_state", "Number of processes in each state.", value, {{"state", std::string(1, state)}});

  // Report half of the names by memory, and the rest by the CPU time since the previous call.
  std::vector<const std::pair<const std::string, group>*> order;
  order.reserve(groups_.size());
  for (const auto& one : groups_) order.push_back(&one);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.resident > b->second.resident; });
  const auto by_memory = std::min(order.size(), (names + 1) / 2);
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(by_memory), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.recently, a->second.resident) > std::pair(b->second.recently, b->second.resident);
  });
  order.resize(std::min(order.size(), names));
  for (const auto* one : order) add(one->second, one->first, to);
}

void processes::add(const group& one, const std::string& name, gathering& to) const {
  const auto of = [&name](std::string_view key = {}, std::string_view value = {}) {
    std::vector<series::label> out{{"groupname", name}};
    if (!key.empty()) out.emplace_back(key, value);
    return out;
  };
  to.gauge("namedprocess_namegroup_num_procs", "number of processes in this group", one.count, of());
  to.gauge("namedprocess_namegroup_num_threads", "Number of threads", one.threads, of());
  to.counter("namedprocess_namegroup_cpu_seconds_total", "Cpu user usage in seconds", one.total.user, of("mode", "user"));
  to.counter("namedprocess_namegroup_cpu_seconds_total", "Cpu user usage in seconds", one.total.system, of("mode", "system"));
  to.gauge("namedprocess_namegroup_memory_bytes", "number of bytes of memory in use", one.resident, of("memtype", "resident"));
  to.gauge("namedprocess_namegroup_memory_bytes", "number of bytes of memory in use", one.virtual_size,
           of("memtype", "virtual"));
}

}  // namespace hondana::host
