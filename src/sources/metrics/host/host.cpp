/// One look at everything.
#include "sources/metrics/host/host.hpp"

#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <utility>

#include "sources/metrics/host/decoders.hpp"
#include "sources/metrics/host/devices.hpp"
#include "sources/metrics/host/gathering.hpp"
#include "sources/metrics/host/kernel_text.hpp"
#include "sources/metrics/host/processes.hpp"

namespace hondana::host {
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
  // Of this process's network, as /proc/net is, which is a link.
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
