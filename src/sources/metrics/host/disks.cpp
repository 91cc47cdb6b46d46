/// Disks and file systems.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/ascii/characters.hpp"
#include "sources/metrics/host/decoders.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
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
/// Whose servers may be away, which statfs waits for.
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

/// Octal escapes of blanks, tabs, feeds and backslashes.
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
    // What is mounted over another hides it.
    auto point_of = one.point;
    by_point.insert_or_assign(std::move(point_of), std::move(one));
  }
  std::vector<mounted> visible;
  visible.reserve(by_point.size());
  for (auto& [point, one] : by_point) visible.push_back(std::move(one));
  return visible;
}

}  // namespace hondana::host
