/// Sums over /proc/PID/stat.
#include "sources/metrics/host/processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "os/disk/folder_stream.hpp"
#include "sources/metrics/host/decoders.hpp"
#include "sources/metrics/host/kernel_text.hpp"

namespace hondana::host {
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
  // The name may hold anything, brackets and feeds too.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  into.name.clear();
  constexpr std::size_t longest_name = 64;
  for (const char c : text.substr(open + 1, std::min(close - open - 1, longest_name)))
    into.name += c >= ' ' && c != 0x7f ? c : '?';
  const auto words = words_of(text.substr(close + 1));
  // From the third field of proc(5) on.
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

  // Half of them by memory, and of the rest those that have used the most time lately.
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
