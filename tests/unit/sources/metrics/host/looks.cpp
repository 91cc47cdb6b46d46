/// Whole looks at trees that tests made.
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "unit/sources/metrics/host/trees.hpp"

namespace {

using hondana::host::collector;
using hondana_test::kernel_tree;
using hondana_test::values_of;

std::string process(const std::string& name, int user, int start, int pages, unsigned flags = 0x400000) {
  return "1 (" + name + ") S 1 1 1 0 -1 " + std::to_string(flags) + " 0 0 0 0 " + std::to_string(user) + " 100 0 0 20 0 2 0 " +
         std::to_string(start) + " 8192 " + std::to_string(pages) + " 0";
}

TEST(host_look, says_when_the_machine_is_hidden) {
  const kernel_tree tree;
  hondana::samples::batch into;
  const auto got = hondana::host::collect(tree.options(), 1000, into);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, hondana::errc::source_unavailable);
  EXPECT_TRUE(into.entries.empty());
}

TEST(host_look, takes_what_there_is_and_leaves_out_the_rest) {
  const kernel_tree tree;
  tree.write("proc/stat", "btime 5\n");
  tree.write("sys/class/net/eth0/operstate", "up\n");
  tree.write("sys/class/net/eth0/mtu", "1500\n");
  tree.write("sys/class/net/eth0/speed", "1000\n");
  tree.write("sys/class/net/eth0/flags", "0x1003\n");
  tree.write("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0/temp1_input", "42500\n");
  tree.write("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0/temp1_label", "Tctl\n");
  tree.write("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0/fan1_input", "900\n");
  tree.write("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0/temp2_input", "cold\n");
  std::filesystem::create_directories(tree.path("sys/class/hwmon"));
  std::filesystem::create_symlink(tree.path("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0"),
                                  tree.path("sys/class/hwmon/hwmon0"));
  std::filesystem::create_symlink(tree.path("sys/devices/pci0000/0000:00:18.3"),
                                  tree.path("sys/devices/pci0000/0000:00:18.3/hwmon/hwmon0/device"));
  tree.write("sys/class/thermal/thermal_zone3/temp", "-1500\n");
  tree.write("sys/class/thermal/thermal_zone3/type", "acpitz\n");
  hondana::samples::batch into;
  ASSERT_TRUE(hondana::host::collect(tree.options(), 2500, into));
  auto got = values_of(into);
  std::erase_if(got, [](const auto& one) { return one.first.starts_with("node_uname_info"); });
  const std::string chip = R"(chip="pci0000_0000:00:18_3")";
  EXPECT_EQ(got, (std::map<std::string, double>{
                     {"node_time_seconds", 2.5},
                     {"node_boot_time_seconds", 5},
                     {R"(node_network_up{device="eth0"})", 1},
                     {R"(node_network_mtu_bytes{device="eth0"})", 1500},
                     {R"(node_network_speed_bytes{device="eth0"})", 125e6},
                     {R"(node_network_flags{device="eth0"})", 4099},
                     {"node_hwmon_temp_celsius{" + chip + R"(,sensor="temp1"})", 42.5},
                     {"node_hwmon_sensor_label{" + chip + R"(,label="Tctl",sensor="temp1"})", 1},
                     {"node_hwmon_fan_rpm{" + chip + R"(,sensor="fan1"})", 900},
                     {R"(node_thermal_zone_temp{type="acpitz",zone="3"})", -1.5},
                 }));
  for (const auto& entry : into.entries) EXPECT_EQ(entry.sample.time, 2500);
  EXPECT_EQ(into.families.at("node_boot_time_seconds").kind, hondana::series::kind::gauge);
  EXPECT_EQ(into.families.at("node_boot_time_seconds").unit, "seconds");
}

TEST(host_look, special_files_and_endless_ones_hold_nobody_up) {
  const kernel_tree tree;
  tree.write("proc/stat", "btime 5\n" + std::string(6u << 20, 'x'));
  ::mkfifo(tree.path("proc/loadavg").c_str(), 0600);
  std::filesystem::create_directories(tree.path("proc/meminfo"));
  std::filesystem::create_symlink("/dev/zero", tree.path("proc/vmstat"));
  std::filesystem::create_symlink("vmstat2", tree.path("proc/vmstat2"));
  hondana::samples::batch into;
  ASSERT_TRUE(hondana::host::collect(tree.options(), 0, into));
  EXPECT_EQ(values_of(into).count("node_boot_time_seconds"), 1u);
}

TEST(host_look, a_flood_of_devices_ends_at_the_cap) {
  const kernel_tree tree;
  std::string text = "btime 5\n";
  for (int i = 0; i < 20'000; ++i) text += "cpu" + std::to_string(i) + " 1 2 3 4 5 6 7 8\n";
  tree.write("proc/stat", text);
  hondana::samples::batch into;
  ASSERT_TRUE(hondana::host::collect(tree.options(), 0, into));
  EXPECT_EQ(into.entries.size(), hondana::host::sample_sink::max_samples);
}

TEST(host_look, time_of_processes_goes_on_counting_when_one_ends) {
  const kernel_tree tree;
  tree.write("proc/stat", "");
  tree.write("proc/10/stat", process("worker", 1000, 1, 10));
  tree.write("proc/11/stat", process("worker", 2000, 1, 20));
  tree.write("proc/2/stat", process("kthread", 9000, 1, 20, 0x200040));
  tree.write("proc/self/stat", process("not a number", 9000, 1, 20));
  collector it(tree.options());
  const std::string user = R"(namedprocess_namegroup_cpu_seconds_total{groupname="worker",mode="user"})";
  const auto look = [&] {
    hondana::samples::batch into;
    EXPECT_TRUE(it.collect(0, into));
    return values_of(into);
  };
  const auto first = look();
  EXPECT_EQ(first.at(user), 30);
  EXPECT_EQ(first.at(R"(namedprocess_namegroup_num_procs{groupname="worker"})"), 2);
  EXPECT_EQ(first.at(R"(namedprocess_namegroup_num_threads{groupname="worker"})"), 4);
  EXPECT_EQ(first.at(R"(namedprocess_namegroup_memory_bytes{groupname="worker",memtype="virtual"})"), 16384);
  EXPECT_EQ(first.at("node_processes_pids"), 3);
  EXPECT_EQ(first.at(R"(node_processes_state{state="S"})"), 3);
  EXPECT_FALSE(first.contains(R"(namedprocess_namegroup_num_procs{groupname="kthread"})"));
  // One ends, one goes on, and one begins under the number of the first.
  tree.write("proc/10/stat", process("worker", 50, 7, 10));
  tree.write("proc/11/stat", process("worker", 2100, 1, 20));
  EXPECT_EQ(look().at(user), 30 + 0.5 + 1);
  std::filesystem::remove_all(tree.path("proc/10"));
  std::filesystem::remove_all(tree.path("proc/11"));
  EXPECT_FALSE(look().contains(user));
}

TEST(host_look, names_the_largest_by_memory_and_by_time) {
  const kernel_tree tree;
  tree.write("proc/stat", "");
  for (int i = 0; i < 10; ++i)
    tree.write("proc/" + std::to_string(100 + i) + "/stat", process("p" + std::to_string(i), 10'000 - 1000 * i, 1, i + 1));
  auto options = tree.options();
  options.max_processes = 4;
  const auto named = [](const auto& values) {
    std::string out;
    for (int i = 0; i < 10; ++i) {
      if (values.contains(R"(namedprocess_namegroup_num_procs{groupname="p)" + std::to_string(i) + "\"}"))
        out += std::to_string(i);
    }
    return out;
  };
  collector it(options);
  hondana::samples::batch first, second, none;
  ASSERT_TRUE(it.collect(0, first));
  EXPECT_EQ(named(values_of(first)), "0189");
  // Later by the time since the last look.
  tree.write("proc/105/stat", process("p5", 50'000, 1, 6));
  tree.write("proc/104/stat", process("p4", 40'000, 1, 5));
  ASSERT_TRUE(it.collect(0, second));
  EXPECT_EQ(named(values_of(second)), "4589");
  options.has_processes = false;
  ASSERT_TRUE(hondana::host::collect(options, 0, none));
  EXPECT_EQ(named(values_of(none)), "");
  EXPECT_EQ(values_of(none).at("node_processes_pids"), 10);
}

}  // namespace
