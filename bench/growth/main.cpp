/// How cost and memory grow: with connections, with big blobs at once, with the size of one read, and with the files below a
/// root. Lists in memory and streams of changes have programs of their own (list_bench, feed_bench).
///
/// Usage: growth_bench PROGRAM [FILES]. FILES: the most files below a root (1000000). Prints Markdown. Needs 2 GiB in the
/// temporary folder.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../process/scratch.hpp"
#include "../stdio/big_read.hpp"
#include "../stdio/generator.hpp"

namespace {

namespace fs = std::filesystem;
using bench::child;
using bench::clock;
using bench::cores;
using bench::scratch;

constexpr std::uint64_t mebibyte = 1u << 20;
constexpr std::uint64_t blob_mebibytes = 64;
constexpr int runs = 5;

double mebibytes(long kib) { return static_cast<double>(kib) / 1024; }

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// The program with a folder below `in`.
struct served {
  served(const std::string& program, const scratch& in, const char* folder, cores on)
      : port(http_bench::free_port()),
        server({program, "serve", "--config", config(in, folder, port)}, on.of_server, port, in.path("growth.log")) {}
  static std::string config(const scratch& in, const std::string& folder, std::uint16_t port) {
    fs::create_directories(in.path(folder));
    in.put("growth.toml", "max_read_bytes = \"2GiB\"\npage_size = 10000\n" +
                              (port == 0 ? std::string() : "[http]\nport = " + std::to_string(port) + "\nthreads = 1\n") +
                              "[[source]]\ntype = \"files\"\npath = \"" + folder + "\"\n");
    return in.path("growth.toml");
  }
  std::uint16_t port;
  http_bench::contestant server;
};

void grow_connections(const std::string& program, cores on) {
  const scratch in;
  in.put("few/small.txt", "A small text, as most are.\n");
  const served by(program, in, "few", on);
  const auto request = http_bench::post("/mcp", "resources/read", "file://" + in.path("few/small.txt"));
  const auto body = http_bench::settled(by.port, request).size();
  std::printf("| connections, small reads | requests/s | µs CPU a request | p50, µs | p99, µs | peak, MiB |\n");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  for (const int connections : {1, 4, 16, 64, 256}) {
    bench::figures got;
    for (int i = 0; i < runs; ++i) {
      http_bench::measure(by.server, request, body, connections, std::chrono::milliseconds(500), got);
    }
    std::printf("| %d | %.0f | %.1f | %.1f | %.1f | %.1f |\n", connections, bench::median(got.rates), bench::median(got.costs),
                bench::median(got.p50), bench::median(got.p99), mebibytes(got.peak_kib));
  }
}

void grow_blobs(const std::string& program, cores on) {
  const scratch in;
  fs::create_directories(in.path("blobs"));
  stdio_bench::write_big(in.path("blobs/blob.bin"), blob_mebibytes * mebibyte);
  std::printf("\n| blobs of 64 MiB at once, over HTTP | s | content, GiB/s | ms CPU a blob | growth of memory, MiB |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const int at_once : {1, 2, 4, 8, 16, 32}) {
    const served by(program, in, "blobs", on);
    const auto request = http_bench::post("/mcp", "resources/read", "file://" + in.path("blobs/blob.bin"));
    const auto& server = by.server.process();
    const auto before = server.status_kib("VmRSS");
    const auto body = http_bench::fetch(by.port, request).body.size();
    server.forget_peak();
    const auto used = server.processor_seconds();
    // Nobody asks again after so short a time: one answer a connection.
    const auto got = http_bench::generate(by.port, request, body, at_once, std::chrono::milliseconds(0));
    std::printf("| %d | %.2f | %.2f | %.1f | %.1f |\n", at_once, got.seconds,
                static_cast<double>(got.answers * blob_mebibytes) / 1024 / got.seconds,
                1e3 * (server.processor_seconds() - used) / static_cast<double>(got.answers),
                mebibytes(server.status_kib("VmHWM") - before));
  }
}

void grow_reads(const std::string& program, cores on) {
  const scratch in;
  std::printf("\n| one blob over stdio, MiB | s | ms CPU a MiB | growth of memory, MiB |\n| --- | --- | --- | --- |\n");
  for (const std::uint64_t size : {1u, 16u, 64u, 256u, 1024u}) {
    const auto config = served::config(in, "big", 0);
    stdio_bench::write_big(in.path("big/big.bin"), size * mebibyte);
    child server({program, "stdio", "--config", config}, on.of_server, in.path("growth.log"));
    stdio_bench::greet(server);
    const auto cost = stdio_bench::read_big(server, "file://" + in.path("big/big.bin"), size * mebibyte, false);
    std::printf("| %llu | %.3f | %.2f | %.1f |\n", static_cast<unsigned long long>(size), cost.seconds,
                1e3 * cost.processor_seconds / static_cast<double>(size), cost.growth_mebibytes);
  }
}

/// Entries of all pages.
std::size_t listed(child& server) {
  std::size_t count = 0;
  std::string cursor;
  do {
    server.send(stdio_bench::message_of({"resources/list", cursor.empty() ? "{}" : R"({"cursor":")" + cursor + "\"}"}, 0));
    auto page = server.line();
    while (page.find("\"method\":\"notifications/") != std::string::npos) page = server.line();
    if (page.find("\"result\"") == std::string::npos) throw std::runtime_error("no page: " + page.substr(0, 300));
    constexpr std::string_view uri = "\"uri\":";
    for (auto at = page.find(uri); at != std::string::npos; at = page.find(uri, at + uri.size())) ++count;
    constexpr std::string_view next = "\"nextCursor\":\"";
    const auto at = page.find(next);
    cursor = at == std::string::npos ? "" : page.substr(at + next.size(), page.find('"', at + next.size()) - at - next.size());
  } while (!cursor.empty());
  return count;
}

void grow_files(const std::string& program, cores on, std::size_t most) {
  const scratch in;
  const auto config = served::config(in, "many", 0);
  std::printf(
      "\n| files below a root | exec to the whole list, s | the whole list again, s | s CPU for both | resident, MiB |\n"
      "| --- | --- | --- | --- | --- |\n");
  std::size_t there = 0;
  for (std::size_t files = 1000; files <= most; files *= 10) {
    in.add_files("many", there, files);
    there = files;
    const auto begin = clock::now();
    child server({program, "stdio", "--config", config}, on.of_server, in.path("growth.log"));
    stdio_bench::greet(server);
    // The root and its folders of a thousand are entries, too.
    if (const auto count = listed(server); count != files + files / 1000 + 1)
      throw std::runtime_error(std::to_string(count) + " entries are listed");
    const auto first = seconds_since(begin);
    const auto again = clock::now();
    (void)listed(server);
    const auto second = seconds_since(again);
    std::printf("| %zu | %.3f | %.3f | %.3f | %.1f |\n", files, first, second, server.processor_seconds(),
                mebibytes(server.status_kib("VmRSS")));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: growth_bench PROGRAM [FILES]\n");
    return 2;
  }
  try {
    const auto files = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1'000'000;
    const auto on = bench::cores_here();
    bench::stay_on(on.of_peers);
    grow_connections(arguments[1], on);
    grow_blobs(arguments[1], on);
    grow_reads(arguments[1], on);
    grow_files(arguments[1], on, files);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "growth_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
