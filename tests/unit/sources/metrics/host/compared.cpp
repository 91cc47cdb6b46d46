/// The same as node_exporter says, at the same time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/sources/metrics/host/trees.hpp"
#include "unit/started/program.hpp"

namespace {

using hondana_test::values_of;

constexpr std::chrono::seconds patience = hondana_test::event_deadline;

sockaddr_in here(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

/// The program of that name on a port of its own.
class node_exporter {
 public:
  node_exporter() : port_(hondana::started::free_port()) {
    int pipe[2];
    if (::pipe(pipe) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
    ::posix_spawn_file_actions_addclose(&actions, pipe[0]);
    const auto address = "--web.listen-address=127.0.0.1:" + std::to_string(port_);
    std::vector<std::string> words{"prometheus-node-exporter", address, "--collector.processes",
                                   "--collector.netdev.device-exclude=^$"};
    std::vector<char*> arguments;
    for (auto& one : words) arguments.push_back(one.data());
    arguments.push_back(nullptr);
    const int failed = ::posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    output_ = pipe[0];
    if (failed != 0) throw std::runtime_error("prometheus-node-exporter is not installed");
    wait_until_it_listens();
  }
  ~node_exporter() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    ::close(output_);
  }
  node_exporter(const node_exporter&) = delete;
  node_exporter& operator=(const node_exporter&) = delete;

  std::string metrics() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval most{patience.count(), 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    const auto name = here(port_);
    std::string out;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0) {
      const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
      if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
        char window[65536];
        for (ssize_t count = 0; (count = ::recv(socket, window, sizeof window, 0)) > 0;)
          out.append(window, static_cast<std::size_t>(count));
      }
    }
    ::close(socket);
    return out;
  }

 private:
  void wait_until_it_listens() {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::string said;
    while (said.find("TLS is disabled") == std::string::npos) {
      pollfd waiting{output_, POLLIN, 0};
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      char window[4096];
      if (rest <= 0 || ::poll(&waiting, 1, static_cast<int>(rest)) != 1) throw std::runtime_error("it does not start: " + said);
      const auto count = ::read(output_, window, sizeof window);
      if (count <= 0) throw std::runtime_error("it has ended: " + said);
      said.append(window, static_cast<std::size_t>(count));
    }
  }

  std::uint16_t port_;
  pid_t process_ = -1;
  int output_ = -1;
};

struct said {
  std::map<std::string, double> values;
  std::map<std::string, std::string> types;
};

said parsed(const std::string& text) {
  said out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto last = line.rfind(' ');
    if (line.starts_with("# TYPE ")) out.types[line.substr(7, last - 7)] = line.substr(last + 1);
    if (line.starts_with("node_")) out.values[line.substr(0, last)] = std::stod(line.substr(last + 1));
  }
  return out;
}

std::string name_of_series(const std::string& series) { return series.substr(0, series.find('{')); }

TEST(host_compared_with_node_exporter, has_the_same_names_labels_kinds_and_values) {
  const node_exporter exporter;
  hondana::host::collector own;
  const auto look = [&own] {
    hondana::samples::batch out;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    const auto done = own.collect(now.count(), out);
    EXPECT_TRUE(done) << (done ? "" : done.error().public_text);
    return out;
  };
  const auto batch = look();
  const auto theirs = parsed(exporter.metrics());
  const auto before = values_of(batch);
  const auto after = values_of(look());
  ASSERT_GT(theirs.values.size(), 100u);

  // Kinds and labels, of all that both have.
  std::set<std::string> names;
  for (const auto& entry : batch.entries) {
    const auto type = theirs.types.find(entry.identity.name);
    if (type == theirs.types.end()) continue;
    names.insert(entry.identity.name);
    const auto kind = batch.families.at(entry.identity.name).kind;
    EXPECT_EQ(kind == hondana::series::kind::unknown ? "untyped" : std::string(hondana::series::name_of(kind)), type->second)
        << entry.identity.name;
  }
  EXPECT_GT(names.size(), 150u);
  // Whatever they say of these names, we say, and so with the same labels. Processes come and go.
  for (const auto& [series, value] : theirs.values) {
    const auto name = name_of_series(series);
    if (!names.contains(name) || name == "node_processes_state") continue;
    EXPECT_TRUE(before.contains(series)) << series;
  }
  // And nothing of the usual is missing.
  for (const auto& [series, value] : theirs.values) {
    for (const std::string prefix : {"node_cpu_",
                                     "node_load",
                                     "node_memory_",
                                     "node_filesystem_",
                                     "node_disk_",
                                     "node_network_re",
                                     "node_network_transmit_",
                                     "node_pressure_",
                                     "node_vmstat_",
                                     "node_netstat_",
                                     "node_sockstat_",
                                     "node_filefd_",
                                     "node_procs_",
                                     "node_softnet_",
                                     "node_uname",
                                     "node_boot",
                                     "node_forks",
                                     "node_intr",
                                     "node_context",
                                     "node_time_seconds",
                                     "node_hwmon_temp_celsius",
                                     "node_thermal"}) {
      const auto name = name_of_series(series);
      if (!series.starts_with(prefix) || name == "node_disk_info" || name == "node_network_receive_nohandler_total") continue;
      EXPECT_TRUE(before.contains(series)) << series;
    }
  }
  // Counters: theirs lie between two of ours. The kernel itself lets idle times go back by some ticks.
  std::size_t counters = 0;
  for (const auto& [series, value] : theirs.values) {
    const auto first = before.find(series);
    const auto second = after.find(series);
    if (first == before.end() || second == after.end()) continue;
    const auto name = name_of_series(series);
    if (theirs.types.at(name) == "counter" || (name.starts_with("node_vmstat") || name.ends_with("Octets"))) {
      const double slack = name.ends_with("seconds_total") ? 0.5 : 0;
      EXPECT_GE(value, first->second - slack) << series;
      EXPECT_LE(value, second->second + slack) << series;
      ++counters;
    }
    const bool is_steady = name == "node_boot_time_seconds" || name == "node_filefd_maximum" || name == "node_uname_info" ||
                           name == "node_network_mtu_bytes" || name == "node_network_up" ||
                           name == "node_network_speed_bytes" || name == "node_network_flags" ||
                           name == "node_filesystem_size_bytes" || name == "node_filesystem_files" ||
                           name == "node_filesystem_readonly" || name == "node_filesystem_device_error" ||
                           name == "node_memory_MemTotal_bytes" || name == "node_memory_SwapTotal_bytes" ||
                           name == "node_memory_VmallocTotal_bytes" || name == "node_network_transmit_queue_length";
    if (is_steady) {
      EXPECT_EQ(value, first->second) << series;
    }
  }
  EXPECT_GT(counters, 60u);
  // And what moves is near.
  EXPECT_NEAR(theirs.values.at("node_memory_MemAvailable_bytes"), before.at("node_memory_MemAvailable_bytes"),
              0.2 * before.at("node_memory_MemTotal_bytes"));
  EXPECT_NEAR(theirs.values.at("node_load15"), before.at("node_load15"), 1);
  EXPECT_GE(theirs.values.at("node_time_seconds"), before.at("node_time_seconds"));
  EXPECT_LE(theirs.values.at("node_time_seconds"), after.at("node_time_seconds") + 0.001);
}

TEST(host_compared_with_node_exporter, knows_its_process_by_name_and_not_by_its_arguments) {
  const node_exporter exporter;
  hondana::host::options from;
  from.max_processes = 10'000;
  hondana::samples::batch batch;
  ASSERT_TRUE(hondana::host::collect(from, 0, batch));
  const auto got = values_of(batch);
  const auto found = got.find(R"(namedprocess_namegroup_memory_bytes{groupname="prometheus-node",memtype="resident"})");
  ASSERT_NE(found, got.end());
  EXPECT_GT(found->second, 1e6);
  for (const auto& [series, value] : got) EXPECT_EQ(series.find("listen-address"), std::string::npos) << series;
}

}  // namespace
