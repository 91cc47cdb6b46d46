/// Network devices and protocols.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "sources/metrics/host/decoders.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
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

/// What node_exporter shows of the hundreds there are.
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
    // Two lines each; where they do not belong together, the rest cannot be trusted either.
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

}  // namespace hondana::host
