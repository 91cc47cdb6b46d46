/// Small reads over standard input and output, beside the SDK 1.32, its server of a file system and a blocking echo.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../stdio/generator.hpp"
#include "works.hpp"

namespace table_bench {
namespace {

using bench::aim;
using bench::figures;

constexpr unsigned depths[] = {1, 32};

struct entrant {
  std::string who;
  std::shared_ptr<bench::child> server;
  stdio_bench::question what;
  std::size_t bytes = 0;
  figures got{};
};

entrant entered(std::string who, std::vector<std::string> command, const setting& at, stdio_bench::question what) {
  entrant out{std::move(who), std::make_shared<bench::child>(std::move(command), at.on.of_server, at.in.path("stdio.log")),
              std::move(what)};
  stdio_bench::greet(*out.server);
  out.bytes = stdio_bench::answer_bytes(*out.server, out.what);
  return out;
}

}  // namespace

void run_over_stdio(const setting& at, bench::report& to) {
  const stdio_bench::question read{"resources/read", R"({"uri":")" + at.uri_of("small.txt") + "\"}"};
  std::vector<entrant> all;
  all.push_back(entered("hondana", {at.program, "stdio", "--config", at.config("stdio.toml", 0)}, at, read));
  auto echoed = read;
  echoed.mark = "\"method\":";
  all.push_back({"a blocking echo", std::make_shared<bench::child>(stdio_bench::echo, at.on.of_server), echoed,
                 stdio_bench::message_of(echoed, 0).size()});
  const auto sdk = at.peer("sdk1.mjs", {at.in.path("served")});
  if (sdk.empty()) {
    to.leave_out("the servers of the TypeScript SDK over stdio, whose npm packages are not in " + at.peers);
  } else {
    all.push_back(entered("SDK 1.32", sdk, at, read));
    // It has no resources; of its tools this is the nearest thing.
    const auto files = at.peer("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", {at.in.path("served")});
    const stdio_bench::question call{
        "tools/call", R"({"name":"read_text_file","arguments":{"path":")" + at.in.path("served/small.txt") + "\"}}"};
    all.push_back(entered("server-filesystem, read_text_file", files, at, call));
  }
  const std::string work = "small read over stdio";
  for (const unsigned depth : depths) {
    const auto name = work + ", " + std::to_string(depth) + " in flight";
    std::fprintf(stderr, "%s\n", name.c_str());
    for (auto& one : all) one.got = {};
    for (int turn = 0; turn < at.repetitions; ++turn) {
      for (auto& one : all) stdio_bench::measure(*one.server, one.what, one.bytes, depth, at.time, one.got);
    }
    for (const auto& one : all) to.add(work, one.who, one.bytes, depth, one.got);
    to.compare(name, "requests/s", all[0].got, "SDK 1.32", all.size() > 2 ? &all[2].got : nullptr, &figures::rates,
               {aim::sense::at_least, depth == 1 ? 5.0 : 10.0});
    if (depth == 1) {
      to.compare(name, "RTT p50, µs", all[0].got, all[1].who, &all[1].got, &figures::p50, {aim::sense::at_most, 1.5});
    }
  }
}

}  // namespace table_bench
