/// One value a file.
#include "sources/metrics/host/devices.hpp"

#include <stdlib.h>

#include <array>
#include <memory>

#include "base/ascii/characters.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
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

/// Without links. Empty: there is none.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, frees_path> out(::realpath(path.c_str(), nullptr));
  return out ? std::string(out.get()) : std::string();
}

std::string last_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// In lower case, with underscores for what labels of node_exporter do not have, and none around it.
std::string cleaned(std::string text) {
  text = ascii::in_lower_case(text);
  for (char& c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_')) c = '_';
  }
  const auto begin = text.find_first_not_of('_');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of('_') - begin + 1);
}

/// What node_exporter calls a chip: by the bus and the name of its device, or by its own name.
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

}  // namespace hondana::host
