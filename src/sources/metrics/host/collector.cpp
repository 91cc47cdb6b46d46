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
void collect_network_devices(const std::string& sys, sample_sink& sink);
/// `sys`/class/hwmon and `sys`/class/thermal
void collect_temperatures(const std::string& sys, sample_sink& sink);

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

struct free_deleter {
  void operator()(char* path) const noexcept { ::free(path); }
};

/// Resolves all symbolic links. Empty if the path does not exist.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, free_deleter> out(::realpath(path.c_str(), nullptr));
  return out ? std::string(out.get()) : std::string();
}

std::string last_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Lower case, with underscores for characters that node_exporter does not allow in labels, and none at the ends.
std::string clean_name(std::string text) {
  text = ascii::to_lower(text);
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
    const auto name = clean_name(device.substr(slash + 1));
    const auto bus = clean_name(last_name(device.substr(0, slash)));
    if (!name.empty()) return bus.empty() ? name : bus + '_' + name;
  }
  if (auto driver_name = clean_name(read_line(folder + "/name").value_or(std::string())); !driver_name.empty())
    return driver_name;
  return last_name(folder);
}

constexpr double thousandth = 0.001;

void collect_chip(const std::string& folder, sample_sink& sink) {
  constexpr std::string_view input = "_input";
  const auto chip = chip_name(folder);
  for (const auto& file : list_names(folder)) {
    if (!file.ends_with(input)) continue;
    const auto sensor = file.substr(0, file.size() - input.size());
    const bool is_fan = sensor.starts_with("fan");
    if (!is_fan && !sensor.starts_with("temp")) continue;
    const std::vector<series::label> labels{{"chip", chip}, {"sensor", sensor}};
    const auto value = read_number(folder + '/' + file);
    if (!value) continue;
    if (is_fan) {
      sink.gauge("node_hwmon_fan_rpm", "Hardware monitor for fan revolutions per minute (input)", *value, labels);
    } else {
      sink.gauge("node_hwmon_temp_celsius", "Hardware monitor for temperature (input)", *value * thousandth, labels);
    }
    if (const auto text = read_line(folder + '/' + sensor + "_label"))
      sink.gauge("node_hwmon_sensor_label", "Label for given chip and sensor", 1,
                 {{"chip", chip}, {"label", *text}, {"sensor", sensor}});
  }
}

}  // namespace

void collect_network_devices(const std::string& sys, sample_sink& sink) {
  const auto devices = sys + "/class/net/";
  for (const auto& device : list_names(devices)) {
    const std::vector<series::label> labels{{"device", device}};
    const auto state = read_line(devices + device + "/operstate");
    if (!state) continue;
    sink.gauge("node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.", *state == "up" ? 1 : 0, labels);
    for (const auto& field : link_fields) {
      const auto value = read_number(devices + device + '/' + std::string(field.file));
      if (!value) continue;
      sink.add(field.name, field.is_counter ? series::kind::counter : series::kind::gauge, field.help, *value, labels);
    }
    constexpr double megabit = 1e6 / 8;
    if (const auto speed = read_number(devices + device + "/speed"))
      sink.gauge("node_network_speed_bytes", "Network device property: speed_bytes", *speed * megabit, labels);
  }
}

void collect_temperatures(const std::string& sys, sample_sink& sink) {
  const auto chips = sys + "/class/hwmon/";
  for (const auto& chip : list_names(chips, "hwmon")) collect_chip(chips + chip, sink);
  constexpr std::string_view prefix = "thermal_zone";
  const auto zones = sys + "/class/thermal/";
  for (const auto& zone : list_names(zones, prefix)) {
    const auto value = read_number(zones + zone + "/temp");
    const auto type = read_line(zones + zone + "/type");
    if (!value || !type) continue;
    sink.gauge("node_thermal_zone_temp", "Zone temperature in Celsius", *value * thousandth,
               {{"type", *type}, {"zone", zone.substr(prefix.size())}});
  }
}

namespace {

void collect_file_systems(const options& options, sample_sink& sink) {
  const auto mounts = read_text(options.proc + "/self/mounts");
  if (!mounts) return;
  const auto root = options.root == "/" ? std::string() : options.root;
  for (const auto& mount : decode_mounts(*mounts)) {
    const std::vector<series::label> labels{{"device", mount.device}, {"fstype", mount.type}, {"mountpoint", mount.point}};
    struct statvfs stats{};
    const bool is_known = ::statvfs((root + mount.point).c_str(), &stats) == 0;
    sink.gauge("node_filesystem_device_error", "Whether an error occurred while getting statistics for the given device.",
               is_known ? 0 : 1, labels);
    if (!is_known) continue;
    const auto blocks = [&stats](fsblkcnt_t count) { return static_cast<double>(count) * static_cast<double>(stats.f_frsize); };
    sink.gauge("node_filesystem_size_bytes", "Filesystem size in bytes.", blocks(stats.f_blocks), labels);
    sink.gauge("node_filesystem_free_bytes", "Filesystem free space in bytes.", blocks(stats.f_bfree), labels);
    sink.gauge("node_filesystem_avail_bytes", "Filesystem space available to non-root users in bytes.", blocks(stats.f_bavail),
               labels);
    sink.gauge("node_filesystem_files", "Filesystem total file nodes.", static_cast<double>(stats.f_files), labels);
    sink.gauge("node_filesystem_files_free", "Filesystem total free file nodes.", static_cast<double>(stats.f_ffree), labels);
    sink.gauge("node_filesystem_readonly", "Filesystem read-only status.", mount.is_read_only ? 1 : 0, labels);
  }
}

void collect_kernel(sample_sink& sink) {
  struct utsname uts{};
  if (::uname(&uts) != 0) return;
  sink.gauge("node_uname_info", "Labeled system information as provided by the uname system call.", 1,
             {{"sysname", uts.sysname},
              {"release", uts.release},
              {"version", uts.version},
              {"machine", uts.machine},
              {"nodename", uts.nodename},
              {"domainname", uts.domainname}});
}

void collect_number(const std::string& path, std::string_view name, std::string_view help, sample_sink& sink) {
  if (const auto value = read_number(path)) sink.gauge(name, help, *value);
}

}  // namespace

struct collector::state {
  options config;
  host::process_collector processes{};
};

collector::collector(options options) : state_(std::make_unique<state>()) { state_->config = std::move(options); }
collector::~collector() = default;

result<void> collector::collect(series::instant now, samples::batch& batch) {
  const auto& options = state_->config;
  const auto stat = read_text(options.proc + "/stat");
  if (!stat)
    return fail(errc::source_unavailable,
                "this machine's metrics cannot be collected: " + options.proc + "/stat is missing or not readable");
  sample_sink sink(now, batch);
  constexpr double milliseconds_per_second = 1000;
  sink.gauge("node_time_seconds", "System time in seconds since epoch (1970).",
             static_cast<double>(now) / milliseconds_per_second);
  decode_stat(*stat, sink);
  const auto decode = [&](const std::string& file, void (*decoder)(std::string_view, sample_sink&)) {
    if (const auto text = read_text(options.proc + file)) decoder(*text, sink);
  };
  decode("/loadavg", decode_loadavg);
  decode("/meminfo", decode_meminfo);
  decode("/vmstat", decode_vmstat);
  decode("/sys/fs/file-nr", decode_file_nr);
  for (const std::string resource : {"cpu", "io", "memory"}) {
    if (const auto text = read_text(options.proc + "/pressure/" + resource)) decode_pressure(resource, *text, sink);
  }
  decode("/diskstats", decode_diskstats);
  collect_file_systems(options, sink);
  // /proc/net is a link to the network namespace of this process.
  decode("/net/dev", decode_net_dev);
  decode("/net/netstat", decode_netstat);
  decode("/net/snmp", decode_netstat);
  decode("/net/snmp6", decode_snmp6);
  decode("/net/sockstat", decode_sockstat);
  decode("/net/sockstat6", decode_sockstat);
  decode("/net/softnet_stat", decode_softnet);
  collect_number(options.proc + "/sys/kernel/random/entropy_avail", "node_entropy_available_bits", "Bits of available entropy.",
                 sink);
  collect_number(options.proc + "/sys/net/netfilter/nf_conntrack_count", "node_nf_conntrack_entries",
                 "Number of currently allocated flow entries for connection tracking.", sink);
  collect_number(options.proc + "/sys/net/netfilter/nf_conntrack_max", "node_nf_conntrack_entries_limit",
                 "Maximum size of connection tracking table.", sink);
  collect_network_devices(options.sys, sink);
  collect_temperatures(options.sys, sink);
  collect_kernel(sink);
  state_->processes.collect(options.proc, options.has_processes ? options.max_processes : 0, sink);
  return {};
}

result<void> collect(const options& options, series::instant now, samples::batch& batch) {
  return collector(options).collect(now, batch);
}

std::vector<std::string> folders(const options& options) { return {options.proc, options.sys}; }

}  // namespace hondana::host
