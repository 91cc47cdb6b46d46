/// What /sys says of devices: links, temperatures, fans.
#pragma once

#include <string>

#include "sources/metrics/host/gathering.hpp"

namespace hondana::host {

/// `sys`/class/net
void look_at_network_devices(const std::string& sys, gathering& to);
/// `sys`/class/hwmon and `sys`/class/thermal
void look_at_temperatures(const std::string& sys, gathering& to);

}  // namespace hondana::host
