/// From exec to the first answer, with few and with very many files below the root, and a cold `hondana ls`.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "../http/contestant.hpp"
#include "../stdio/generator.hpp"
#include "works.hpp"

namespace table_bench {
namespace {

using bench::aim;
using bench::clock;

constexpr int runs = 41;
constexpr int runs_of_peers = 9;
constexpr std::size_t many_files = 100'000;

double milliseconds_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// A server's first answer is to a handshake of 2025-11-25, which all of them know.
double first_answer(const setting& at, const std::vector<std::string>& command) {
  const auto begin = clock::now();
  bench::child server(command, at.on.of_server, at.in.path("cold.log"));
  stdio_bench::greet(server);
  return milliseconds_since(begin);
}

/// Handshake and the first read.
double first_read(const setting& at, const std::vector<std::string>& command, const std::string& uri) {
  const auto begin = clock::now();
  bench::child server(command, at.on.of_server, at.in.path("cold.log"));
  stdio_bench::greet(server);
  (void)stdio_bench::answer_bytes(server, {"resources/read", R"({"uri":")" + uri + "\"}"});
  return milliseconds_since(begin);
}

template <class Run>
std::vector<double> times_of(int count, Run run) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(run());
  return out;
}

std::string slowest(const std::vector<double>& times) {
  return "slowest of " + std::to_string(times.size()) + ": " + std::to_string(bench::quantile(times, 1)).substr(0, 5);
}

void add(bench::report& to, const std::string& work, const std::vector<double>& times, std::optional<aim> wanted) {
  to.amount(work, "ms", bench::median(times), slowest(times), std::move(wanted));
}

void write_many(const bench::scratch& in) {
  in.put("many.toml", "[[source]]\ntype = \"files\"\npath = \"many\"\n");
  in.add_files("many", 0, many_files);
  in.put("many/50/note-50000.txt", "A note.\n");
}

}  // namespace

void run_start(const setting& at, bench::report& to) {
  std::fprintf(stderr, "start\n");
  const aim wanted{aim::sense::at_most, 15};
  const std::vector<std::string> few{at.program, "stdio", "--config", at.config("few.toml", 0)};
  const auto own = times_of(runs, [&] { return first_answer(at, few); });
  add(to, "exec to first answer, 99 files", own, wanted);
  if (const auto sdk = at.peer("sdk1.mjs", {at.in.path("served")}); !sdk.empty()) {
    const auto theirs = times_of(runs_of_peers, [&] { return first_answer(at, sdk); });
    to.add({"exec to first answer, 99 files", "ms", bench::median(own), "SDK 1.32", bench::median(theirs),
            bench::median(own) / bench::median(theirs)});
  }
  add(to, "exec to first read, 99 files", times_of(runs, [&] { return first_read(at, few, at.uri_of("small.txt")); }), {});
  std::fprintf(stderr, "start with %zu files\n", many_files);
  write_many(at.in);
  const std::vector<std::string> many{at.program, "stdio", "--config", at.in.path("many.toml")};
  const auto one = "file://" + at.in.path("many/50/note-50000.txt");
  add(to, "exec to first answer, 100 000 files", times_of(runs, [&] { return first_answer(at, many); }), wanted);
  add(to, "exec to first read, 100 000 files", times_of(runs, [&] { return first_read(at, many, one); }), {});
  std::filesystem::remove_all(at.in.path("many"));

  std::fprintf(stderr, "cold commands\n");
  const auto port = http_bench::free_port();
  const http_bench::contestant server({at.program, "serve", "--config", at.config("cold.toml", port)}, at.on.of_server, port,
                                      at.in.path("cold.log"));
  const auto url = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  add(to, "cold `hondana ls --on URL`",
      times_of(runs, [&] { return bench::cost_of({at.program, "ls", "--on", url}).milliseconds; }),
      aim{aim::sense::at_most, 30});
}

}  // namespace table_bench
