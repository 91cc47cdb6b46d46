/// What stays resident: at the start, with 32 blobs of 1 MiB under way, and while 1 GiB is read.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../stdio/big_read.hpp"
#include "../stdio/generator.hpp"
#include "works.hpp"

namespace table_bench {
namespace {

using bench::aim;
using bench::child;

constexpr unsigned at_once = 32;
constexpr std::uint64_t gibibyte = 1ull << 30;
constexpr double megabytes_a_kib = 1024e-6;

const std::string modern = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":{}}})";

stdio_bench::question read_of(const setting& at, const char* name) {
  return {"resources/read", R"({"uri":")" + at.uri_of(name) + "\"}"};
}

void at_start(const setting& at, bench::report& to) {
  const aim wanted{aim::sense::at_most, 16};
  child over_pipes({at.program, "stdio", "--config", at.config("start.toml", 0)}, at.on.of_server, at.in.path("start.log"));
  (void)stdio_bench::answer_bytes(over_pipes, {"server/discover", modern});
  to.amount("memory at start, stdio", "MB", static_cast<double>(over_pipes.status_kib("VmRSS")) * megabytes_a_kib,
            "resident after the first answer", wanted);
  (void)stdio_bench::answer_bytes(over_pipes, {"resources/list", modern});
  to.amount("memory after the first page, stdio", "MB", static_cast<double>(over_pipes.status_kib("VmRSS")) * megabytes_a_kib,
            "resident");
  const auto port = http_bench::free_port();
  const http_bench::contestant over_http({at.program, "serve", "--config", at.config("start.toml", port)}, at.on.of_server,
                                         port, at.in.path("start.log"));
  (void)http_bench::fetch(port, http_bench::post("/mcp", "server/discover", {}));
  to.amount("memory at start, HTTP", "MB", static_cast<double>(over_http.process().status_kib("VmRSS")) * megabytes_a_kib,
            "resident after the first answer", wanted);
}

/// Waits until a server that nobody reads from does no more.
void await_rest(const child& of) {
  constexpr std::chrono::milliseconds a_look{100};
  for (auto used = of.processor_seconds();;) {
    std::this_thread::sleep_for(a_look);
    const auto now = of.processor_seconds();
    if (now - used < 0.002) return;
    used = now;
  }
}

/// The most that is resident when all blobs are asked for and none is read before the server has done what it does.
double blobs_over_stdio(const setting& at, std::vector<std::string> command) {
  const auto blob = read_of(at, "blob.bin");
  child server(std::move(command), at.on.of_server, at.in.path("blobs.log"));
  stdio_bench::greet(server);
  std::string questions;
  for (unsigned i = 0; i < at_once; ++i) questions += stdio_bench::message_of(blob, i);
  server.send(questions);
  await_rest(server);
  std::vector<char> buffer(256 << 10);
  for (unsigned lines = 0; lines < at_once;) {
    const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(server.receive(buffer.data(), buffer.size()));
    lines += static_cast<unsigned>(std::count(buffer.begin(), end, '\n'));
  }
  return static_cast<double>(server.status_kib("VmHWM")) * megabytes_a_kib;
}

void with_blobs(const setting& at, bench::report& to) {
  const aim wanted{aim::sense::at_most, 64};
  bench::line over_pipes{"memory with 32 blobs of 1 MiB in flight, stdio", "MB",
                         blobs_over_stdio(at, {at.program, "stdio", "--config", at.config("blobs.toml", 0)})};
  over_pipes.wanted = wanted;
  over_pipes.remark = "the most resident";
  to.add(over_pipes);
  if (const auto sdk = at.peer("sdk1.mjs", {at.in.path("served")}); !sdk.empty()) {
    bench::line beside{over_pipes.work, "MB", over_pipes.ours, "SDK 1.32", blobs_over_stdio(at, sdk)};
    beside.ratio = *beside.ours / *beside.theirs;
    to.add(beside);
  }
  const auto port = http_bench::free_port();
  const http_bench::contestant server({at.program, "serve", "--config", at.config("blobs.toml", port)}, at.on.of_server, port,
                                      at.in.path("blobs.log"));
  const auto request = http_bench::post("/mcp", "resources/read", at.uri_of("blob.bin"));
  const auto size = http_bench::settled(port, request).size();
  (void)http_bench::generate(port, request, size, static_cast<int>(at_once), at.time);
  to.amount("memory with 32 blobs of 1 MiB in flight, HTTP", "MB",
            static_cast<double>(server.process().status_kib("VmHWM")) * megabytes_a_kib, "the most resident", wanted);
}

/// A folder with one big file, and a configuration that lets it be read.
void write_big_folder(const bench::scratch& in) {
  in.put("big.toml", "max_read_bytes = \"2GiB\"\n[[source]]\ntype = \"files\"\npath = \"big\"\n");
  std::filesystem::create_directories(in.path("big"));
  stdio_bench::write_big(in.path("big/big.bin"), gibibyte);
}

void big_read(const setting& at, bench::report& to, bool is_slow) {
  child server({at.program, "stdio", "--config", at.in.path("big.toml")}, at.on.of_server, at.in.path("big.log"));
  stdio_bench::greet(server);
  const auto cost = stdio_bench::read_big(server, "file://" + at.in.path("big/big.bin"), gibibyte, is_slow);
  to.amount(std::string("1 GiB blob over stdio, growth of memory, ") + (is_slow ? "slow peer" : "fast peer"), "MiB",
            cost.growth_mebibytes, "the most resident, less what was before", aim{aim::sense::at_most, 16});
  if (!is_slow) to.amount("1 GiB blob over stdio, content", "GiB/s", 1 / cost.seconds, "fast peer");
}

/// The program as a client: 1 GiB from a server of its own into a file.
void big_copy(const setting& at, bench::report& to) {
  const auto port = http_bench::free_port();
  at.in.put("big-http.toml", "max_read_bytes = \"2GiB\"\n[http]\nport = " + std::to_string(port) +
                                 "\n[[source]]\ntype = \"files\"\npath = \"big\"\n");
  const http_bench::contestant server({at.program, "serve", "--config", at.in.path("big-http.toml")}, at.on.of_server, port,
                                      at.in.path("big.log"));
  const auto cost = bench::cost_of({at.program, "read", "file://" + at.in.path("big/big.bin"), "-o", at.in.path("copy.bin"),
                                    "--on", "http://127.0.0.1:" + std::to_string(port) + "/mcp"});
  to.amount("1 GiB blob by `hondana read -o FILE`, its memory", "MiB", static_cast<double>(cost.peak_kib) / 1024,
            "the most resident of the client");
  to.amount("1 GiB blob by `hondana read -o FILE`, content", "GiB/s", 1000 / cost.milliseconds, "over HTTP");
}

}  // namespace

void run_memory(const setting& at, bench::report& to) {
  std::fprintf(stderr, "memory at the start\n");
  at_start(at, to);
  std::fprintf(stderr, "memory with blobs\n");
  with_blobs(at, to);
  std::fprintf(stderr, "1 GiB\n");
  write_big_folder(at.in);
  big_read(at, to, false);
  big_read(at, to, true);
  big_copy(at, to);
  // What has not reached the disk yet need not.
  std::filesystem::remove_all(at.in.path("big"));
  std::filesystem::remove(at.in.path("copy.bin"));
}

}  // namespace table_bench
