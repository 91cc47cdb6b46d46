/// Collects the metrics of this machine from /proc and /sys, with the names of node_exporter.
#include "sources/metrics/host/collector.hpp"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/host/kernel_text.hpp"
#include "sources/metrics/host/proc_decoders.hpp"

namespace hondana::host {

/// `sys`/class/net
void look_at_network_devices(const std::string& sys, gathering& to);
/// `sys`/class/hwmon and `sys`/class/thermal
void look_at_temperatures(const std::string& sys, gathering& to);

namespace {

struct link_field {
  std::string_view file;
  std::string_view name;
  std::string_view help;
  bool is_counter = false;
};
constexpr std::array<link_field, 5> link_fields{{
    {"mtu", "node_network_mtu_bytes", "Network device property: mtu_bytes"},
    {"carrier", "node_network_carrier", "Network device property: carrier"},
    {"carrier_changes", "node_network_carrier_changes_total", "Network device property: carrier_changes_total", true},
    {"tx_queue_len", "node_network_transmit_queue_length", "Network device property: transmit_queue_length"},
    {"flags", "node_network_flags", "Network device property: flags"},
}};

struct frees_path {
  void operator()(char* path) const noexcept { ::free(path); }
};

/// Resolves all symbolic links. Empty if the path does not exist.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, frees_path> out(::realpath(path.c_str(), nullptr));
  return out ? std::string(out.get()) : std::string();
}

std::string last_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Lower case, with underscores for characters that node_exporter does not allow in labels, and none at the ends.
std::string cleaned(std::string text) {
  text = ascii::in_lower_case(text);
  for (char& c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_')) c = '_';
  }
  const auto begin = text.find_first_not_of('_');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of('_') - begin + 1);
}

/// The name of a chip as in node_exporter: the bus and name of its device, or else its own name.
std::string chip_name(const std::string& folder) {
  const auto device = real_path(folder + "/device");
  if (const auto slash = device.rfind('/'); slash != std::string::npos && slash > 0) {
    const auto name = cleaned(device.substr(slash + 1));
    const auto bus = cleaned(last_name(device.substr(0, slash)));
    if (!name.empty()) return bus.empty() ? name : bus + '_' + name;
  }
  if (auto own = cleaned(read_line(folder + "/name").value_or(std::string())); !own.empty()) return own;
  return last_name(folder);
}

constexpr double thousandth = 0.001;

void look_at_chip(const std::string& folder, gathering& to) {
  constexpr std::string_view input = "_input";
  const auto chip = chip_name(folder);
  for (const auto& file : names_in(folder)) {
    if (!file.ends_with(input)) continue;
    const auto sensor = file.substr(0, file.size() - input.size());
    const bool is_fan = sensor.starts_with("fan");
    if (!is_fan && !sensor.starts_with("temp")) continue;
    const std::vector<series::label> labels{{"chip", chip}, {"sensor", sensor}};
    const auto value = read_number(folder + '/' + file);
    if (!value) continue;
    if (is_fan) {
      to.gauge("node_hwmon_fan_rpm", "Hardware monitor for fan revolutions per minute (input)", *value, labels);
    } else {
      to.gauge("node_hwmon_temp_celsius", "Hardware monitor for temperature (input)", *value * thousandth, labels);
    }
    if (const auto text = read_line(folder + '/' + sensor + "_label"))
      to.gauge("node_hwmon_sensor_label", "Label for given chip and sensor", 1,
               {{"chip", chip}, {"label", *text}, {"sensor", sensor}});
  }
}

}  // namespace

void look_at_network_devices(const std::string& sys, gathering& to) {
  const auto all = sys + "/class/net/";
  for (const auto& device : names_in(all)) {
    const std::vector<series::label> labels{{"device", device}};
    const auto state = read_line(all + device + "/operstate");
    if (!state) continue;
    to.gauge("node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.", *state == "up" ? 1 : 0, labels);
    for (const auto& field : link_fields) {
      const auto value = read_number(all + device + '/' + std::string(field.file));
      if (!value) continue;
      to.add(field.name, field.is_counter ? series::kind::counter : series::kind::gauge, field.help, *value, labels);
    }
    constexpr double megabit = 1e6 / 8;
    if (const auto speed = read_number(all + device + "/speed"))
      to.gauge("node_network_speed_bytes", "Network device property: speed_bytes", *speed * megabit, labels);
  }
}

void look_at_temperatures(const std::string& sys, gathering& to) {
  const auto chips = sys + "/class/hwmon/";
  for (const auto& one : names_in(chips, "hwmon")) look_at_chip(chips + one, to);
  constexpr std::string_view prefix = "thermal_zone";
  const auto zones = sys + "/class/thermal/";
  for (const auto& one : names_in(zones, prefix)) {
    const auto value = read_number(zones + one + "/temp");
    const auto type = read_line(zones + one + "/type");
    if (!value || !type) continue;
    to.gauge("node_thermal_zone_temp", "Zone temperature in Celsius", *value * thousandth,
             {{"type", *type}, {"zone", one.substr(prefix.size())}});
  }
}

namespace {

void look_at_file_systems(const options& from, gathering& to) {
  const auto mounts = read_text(from.proc + "/self/mounts");
  if (!mounts) return;
  const auto root = from.root == "/" ? std::string() : from.root;
  for (const auto& one : decode_mounts(*mounts)) {
    const std::vector<series::label> labels{{"device", one.device}, {"fstype", one.type}, {"mountpoint", one.point}};
    struct statvfs facts{};
    const bool is_known = ::statvfs((root + one.point).c_str(), &facts) == 0;
    to.gauge("node_filesystem_device_error", "Whether an error occurred while getting statistics for the given device.",
             is_known ? 0 : 1, labels);
    if (!is_known) continue;
    const auto blocks = [&facts](fsblkcnt_t count) { return static_cast<double>(count) * static_cast<double>(facts.f_frsize); };
    to.gauge("node_filesystem_size_bytes", "Filesystem size in bytes.", blocks(facts.f_blocks), labels);
    to.gauge("node_filesystem_free_bytes", "Filesystem free space in bytes.", blocks(facts.f_bfree), labels);
    to.gauge("node_filesystem_avail_bytes", "Filesystem space available to non-root users in bytes.", blocks(facts.f_bavail),
             labels);
    to.gauge("node_filesystem_files", "Filesystem total file nodes.", static_cast<double>(facts.f_files), labels);
    to.gauge("node_filesystem_files_free", "Filesystem total free file nodes.", static_cast<double>(facts.f_ffree), labels);
    to.gauge("node_filesystem_readonly", "Filesystem read-only status.", one.is_read_only ? 1 : 0, labels);
  }
}

void look_at_kernel(gathering& to) {
  struct utsname known{};
  if (::uname(&known) != 0) return;
  to.gauge("node_uname_info", "Labeled system information as provided by the uname system call.", 1,
           {{"sysname", known.sysname},
            {"release", known.release},
            {"version", known.version},
            {"machine", known.machine},
            {"nodename", known.nodename},
            {"domainname", known.domainname}});
}

void look_at_number(const std::string& path, std::string_view name, std::string_view help, gathering& to) {
  if (const auto value = read_number(path)) to.gauge(name, help, *value);
}

}  // namespace

struct collector::state {
  options from;
  host::processes processes{};
};

collector::collector(options from) : state_(std::make_unique<state>()) { state_->from = std::move(from); }
collector::~collector() = default;

result<void> collector::collect(series::instant now, samples::batch& into) {
  const auto& from = state_->from;
  const auto stat = read_text(from.proc + "/stat");
  if (!stat)
    return fail(errc::source_unavailable,
                "this machine's metrics cannot be collected: " + from.proc + "/stat is missing or not readable");
  gathering to(now, into);
  constexpr double in_a_second = 1000;
  to.gauge("node_time_seconds", "System time in seconds since epoch (1970).", static_cast<double>(now) / in_a_second);
  decode_stat(*stat, to);
  const auto decode = [&](const std::string& file, void (*how)(std::string_view, gathering&)) {
    if (const auto text = read_text(from.proc + file)) how(*text, to);
  };
  decode("/loadavg", decode_loadavg);
  decode("/meminfo", decode_meminfo);
  decode("/vmstat", decode_vmstat);
  decode("/sys/fs/file-nr", decode_file_nr);
  for (const std::string what : {"cpu", "io", "memory"}) {
    if (const auto text = read_text(from.proc + "/pressure/" + what)) decode_pressure(what, *text, to);
  }
  decode("/diskstats", decode_diskstats);
  look_at_file_systems(from, to);
  // /proc/net is a link to the network namespace of this process.
  decode("/net/dev", decode_net_dev);
  decode("/net/netstat", decode_netstat);
  decode("/net/snmp", decode_netstat);
  decode("/net/snmp6", decode_snmp6);
  decode("/net/sockstat", decode_sockstat);
  decode("/net/sockstat6", decode_sockstat);
  decode("/net/softnet_stat", decode_softnet);
  look_at_number(from.proc + "/sys/kernel/random/entropy_avail", "node_entropy_available_bits", "Bits of available entropy.",
                 to);
  look_at_number(from.proc + "/sys/net/netfilter/nf_conntrack_count", "node_nf_conntrack_entries",
                 "Number of currently allocated flow entries for connection tracking.", to);
  look_at_number(from.proc + "/sys/net/netfilter/nf_conntrack_max", "node_nf_conntrack_entries_limit",
                 "Maximum size of connection tracking table.", to);
  look_at_network_devices(from.sys, to);
  look_at_temperatures(from.sys, to);
  look_at_kernel(to);
  state_->processes.look(from.proc, from.has_processes ? from.most_processes : 0, to);
  return {};
}

result<void> collect(const options& from, series::instant now, samples::batch& into) {
  return collector(from).collect(now, into);
}

std::vector<std::string> folders(const options& from) { return {from.proc, from.sys}; }

}  // namespace hondana::host
