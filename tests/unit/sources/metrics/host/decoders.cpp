/// Files of /proc as kernels write them, and as none does.
#include "sources/metrics/host/proc_decoders.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "unit/sources/metrics/host/trees.hpp"

namespace {

using namespace hondana::host;
using hondana_test::decoded;
using values = std::map<std::string, double>;

TEST(proc_decoders, take_processor_times_and_counts) {
  const auto got = decoded([](sample_sink& to) {
    decode_stat(
        "cpu  3 2 1 4 0 0 0 0 0 0\n"
        "cpu0 150 20 10 400 5 1 2 3 4 6\n"
        "cpu12 1 2 3\n"
        "cpufreq 1 2 3 4 5 6 7 8\n"
        "intr 10164676 0 0 1\nctxt 99\nbtime 1795482888\nprocesses 7\nprocs_running 2\nprocs_blocked 1\nsoftirq 3 4\n",
        to);
  });
  EXPECT_EQ(got.at(R"(node_cpu_seconds_total{cpu="0",mode="user"})"), 1.5);
  EXPECT_EQ(got.at(R"(node_cpu_seconds_total{cpu="0",mode="steal"})"), 0.03);
  EXPECT_EQ(got.at(R"(node_cpu_guest_seconds_total{cpu="0",mode="nice"})"), 0.06);
  EXPECT_EQ(got.at(R"(node_cpu_seconds_total{cpu="12",mode="system"})"), 0.03);
  EXPECT_FALSE(got.contains(R"(node_cpu_seconds_total{cpu="12",mode="idle"})"));
  EXPECT_EQ(got.at("node_intr_total"), 10164676);
  EXPECT_EQ(got.at("node_boot_time_seconds"), 1795482888);
  EXPECT_EQ(got.at("node_procs_blocked"), 1);
  EXPECT_EQ(got.size(), 10u + 3u + 6u);
}

TEST(proc_decoders, take_memory_with_and_without_unit) {
  const auto got = decoded([](sample_sink& to) {
    decode_meminfo(
        "MemTotal:       16 kB\nActive(anon):  2 kB\nHugePages_Total:       5\nBroken\nNo: number\n: 3 kB\nBad Name: 1 kB\n",
        to);
  });
  EXPECT_EQ(got, (values{{"node_memory_MemTotal_bytes", 16384},
                         {"node_memory_Active_anon_bytes", 2048},
                         {"node_memory_HugePages_Total", 5},
                         {"node_memory__bytes", 3072}}));
}

TEST(proc_decoders, take_disks_but_no_partitions_and_loops) {
  const auto got = decoded([](sample_sink& to) {
    for (const std::string device : {"sda1", "sdaa1x", "vdb12", "nvme0n1p3", "loop0", "ram1", "fd0", "xvda2", "hda1"}) {
      if (device != "sdaa1x") decode_diskstats("8 1 " + device + " 1 2 3 4 5 6 7 8 9 10 11\n", to);
    }
    decode_diskstats(
        "   8 0 sda 10 1 4 1500 20 2 8 2500 3 4000 5000 6 7 8 9000 11 12000\n"
        "   259 0 nvme0n1 1 2 3\n   253 0 zram0 x\n   9 9\n\n",
        to);
  });
  EXPECT_EQ(got.at(R"(node_disk_read_bytes_total{device="sda"})"), 2048);
  EXPECT_EQ(got.at(R"(node_disk_write_time_seconds_total{device="sda"})"), 2.5);
  EXPECT_EQ(got.at(R"(node_disk_flush_requests_time_seconds_total{device="sda"})"), 12);
  EXPECT_EQ(got.size(), 17u + 3u);
}

TEST(proc_decoders, take_mounts_that_have_a_size_and_cannot_hang) {
  const auto got = decode_mounts(
      "/dev/sda1 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\ntmpfs /run tmpfs rw 0 0\n"
      "/dev/sdb1 /data\\040one\\134x xfs ro,noatime 0 0\nserver:/x /net nfs4 rw 0 0\nme /fuse fuse.sshfs rw 0 0\n"
      "tmpfs /runner tmpfs rw 0 0\n/dev/sdc1 /data\\040one\\134x ext4 rw 0 0\nbroken line\n/dev/sdd relative ext4 rw 0 0\n"
      "/dev/sde /bad\\000x ext4 rw 0 0\n");
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].point, "/");
  EXPECT_EQ(got[1].point, "/data one\\x");
  EXPECT_EQ(got[1].device, "/dev/sdc1");
  EXPECT_FALSE(got[1].is_read_only);
  EXPECT_EQ(got[2].point, "/runner");
}

TEST(proc_decoders, take_network_counts) {
  const auto got = decoded([](sample_sink& to) {
    decode_net_dev(
        "Inter-|   Receive      |  Transmit\n face |bytes packets|bytes\n"
        "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0:100 1\n",
        to);
    decode_netstat("TcpExt: SyncookiesSent Other ListenDrops\nTcpExt: 1 2 3\nIpExt: InOctets\nIpExt: 77\n", to);
    decode_netstat("Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: A\nUdp: 1\nUdp: InErrors\nUdp: 5\n", to);
    decode_snmp6("Ip6InOctets \t 5\nUdpLite6InErrors 6\nIcmp6InMsgs 7\nIp6Other 8\nIpx 9\n", to);
    decode_sockstat("sockets: used 16\nTCP: inuse 1 orphan 0 tw 2 alloc 3 mem 4\nFRAG6: inuse 0 memory 9\nbroken 1\n", to);
    decode_softnet("00000010 00000002 0000000a\n0000ffff 0 0 0 0 0 0 0 0 0 0 0 00000007\nxyz 0 0\n", to);
  });
  EXPECT_EQ(got.at(R"(node_network_receive_bytes_total{device="lo"})"), 1);
  EXPECT_EQ(got.at(R"(node_network_transmit_compressed_total{device="lo"})"), 16);
  EXPECT_EQ(got.at(R"(node_network_receive_bytes_total{device="eth0"})"), 100);
  EXPECT_EQ(got.at("node_netstat_TcpExt_ListenDrops"), 3);
  EXPECT_EQ(got.at("node_netstat_IpExt_InOctets"), 77);
  EXPECT_EQ(got.at("node_netstat_Ip_Forwarding"), 1);
  EXPECT_FALSE(got.contains("node_netstat_Udp_InErrors"));
  EXPECT_EQ(got.at("node_netstat_Ip6_InOctets"), 5);
  EXPECT_EQ(got.at("node_netstat_UdpLite6_InErrors"), 6);
  EXPECT_EQ(got.at("node_sockstat_sockets_used"), 16);
  EXPECT_EQ(got.at("node_sockstat_TCP_mem"), 4);
  EXPECT_EQ(got.at("node_sockstat_TCP_mem_bytes"), 4.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(got.at("node_sockstat_FRAG6_memory"), 9);
  EXPECT_EQ(got.at(R"(node_softnet_times_squeezed_total{cpu="0"})"), 10);
  EXPECT_EQ(got.at(R"(node_softnet_processed_total{cpu="7"})"), 65535);
}

TEST(proc_decoders, take_stalls_faults_files_and_load) {
  const auto got = decoded([](sample_sink& to) {
    const std::string both = "some avg10=0.01 avg60=2.22 avg300=17.76 total=4581684871\nfull avg10=0 total=2000000\n";
    decode_pressure("cpu", both, to);
    decode_pressure("io", both + "some total=x\nsome\n", to);
    decode_vmstat("pgfault 1\npgmajfault 2\npgpgin 3\npswpout 4\noom_kill 5\nnr_free_pages 6\npgscan 7\n", to);
    decode_file_nr("668\t0\t2466170\n", to);
    decode_loadavg("0.51 1.71 2.53 3/105 25668\n", to);
  });
  EXPECT_EQ(got, (values{{"node_pressure_cpu_waiting_seconds_total", 4581.684871},
                         {"node_pressure_io_waiting_seconds_total", 4581.684871},
                         {"node_pressure_io_stalled_seconds_total", 2},
                         {"node_vmstat_pgfault", 1},
                         {"node_vmstat_pgmajfault", 2},
                         {"node_vmstat_pgpgin", 3},
                         {"node_vmstat_pswpout", 4},
                         {"node_vmstat_oom_kill", 5},
                         {"node_filefd_allocated", 668},
                         {"node_filefd_maximum", 2466170},
                         {"node_load1", 0.51},
                         {"node_load5", 1.71},
                         {"node_load15", 2.53}}));
}

TEST(proc_decoders, processes_may_be_called_anything) {
  process_stat got;
  const std::string rest = " S 1 1 1 0 -1 4194304 99 0 0 0 150 50 0 0 20 0 3 0 1419425 8192 388 18446744073709551615 1 1";
  ASSERT_TRUE(decode_process("25678 (a) R (b\n) 1)" + rest, got));
  EXPECT_EQ(got.name, "a) R (b?) 1");
  EXPECT_EQ(got.state, 'S');
  EXPECT_EQ(got.user, 150);
  EXPECT_EQ(got.system, 50);
  EXPECT_EQ(got.threads, 3);
  EXPECT_EQ(got.start, 1419425);
  EXPECT_EQ(got.virtual_bytes, 8192);
  EXPECT_EQ(got.resident_pages, 388);
  EXPECT_FALSE(got.is_kernel);
  for (const std::string text : {"", "1", "1 (a", "1 a)", "1 )a(", "1 (a) S 1 2", "1 (a) SS 1", "1 (a)"})
    EXPECT_FALSE(decode_process(text, got)) << text;
  EXPECT_FALSE(decode_process("1 (a) S 1 1 1 0 -1 -7 99 0 0 0 150 50 0 0 20 0 3 0 1 2 3 4", got));
}

TEST(proc_decoders, what_is_no_number_is_left_out) {
  const auto got = decoded([](sample_sink& to) {
    decode_loadavg("nan 1 2\n", to);
    decode_loadavg("1e999 1 2\n", to);
    decode_file_nr("1 2\n", to);
    decode_stat("cpu0 -\nctxt inf\nintr\n", to);
    decode_meminfo(std::string("MemTotal: 1 kB\0more", 19), to);
    decode_sockstat("TCP: inuse\nTCP: inuse x\n: a 1\n", to);
    decode_net_dev(":1\n\xff\xfe: 1\n", to);
  });
  EXPECT_EQ(got, (values{{R"(node_network_receive_bytes_total{device="??"})", 1}, {"node_sockstat__a", 1}}));
}

}  // namespace
