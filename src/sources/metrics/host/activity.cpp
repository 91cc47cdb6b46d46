/// What the processors, the scheduler and the memory are doing.
#include <unistd.h>

#include <array>

#include "sources/metrics/host/decoders.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
namespace {

/// USER_HZ is 100 on all that Linux runs on.
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

/// `Active(anon)` as node_exporter spells it.
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
    // Of the processor "full" means nothing for the whole machine.
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

}  // namespace hondana::host
