/// What hondana has to show of its speed, in one run with others on the same machine: nginx, a bare epoll loop, a blocking
/// echo, and servers by the TypeScript SDK.
///
/// Usage: table_bench PROGRAM PEERS [--json FILE] [MILLISECONDS [REPETITIONS]]. PEERS: the folder bench/peers with its npm
/// packages. Prints Markdown. Needs 3 GiB in the temporary folder.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "works.hpp"

namespace {

std::string heading(const table_bench::setting& at) {
  const std::string where = at.on.of_peers < 0 ? "Servers and load on one core"
                                               : "Servers on core " + std::to_string(at.on.of_server) + ", load on core " +
                                                     std::to_string(at.on.of_peers);
  return where + "; medians of " + std::to_string(at.repetitions) + " runs of " + std::to_string(at.time.count()) +
         " ms each that take turns; a ratio is the median of the ratios of each turn.";
}

void run(std::vector<std::string> arguments) {
  std::string json;
  if (arguments.size() > 3 && arguments[2] == "--json") {
    json = arguments[3];
    arguments.erase(arguments.begin() + 2, arguments.begin() + 4);
  }
  const int time = arguments.size() > 2 ? std::atoi(arguments[2].c_str()) : 500;
  const int repetitions = arguments.size() > 3 ? std::atoi(arguments[3].c_str()) : 5;
  if (time < 10 || repetitions < 1) throw std::runtime_error("give at least 10 milliseconds and 1 repetition");
  const table_bench::setting at(arguments[0], arguments[1], std::chrono::milliseconds(time), repetitions);
  bench::report to(heading(at));
  for (const auto part :
       {table_bench::run_over_http, table_bench::run_over_stdio, table_bench::run_start, table_bench::run_memory}) {
    part(at, to);
  }
  to.print_markdown();
  if (!json.empty()) to.write_json(json);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: table_bench PROGRAM PEERS [--json FILE] [MILLISECONDS [REPETITIONS]]\n");
    return 2;
  }
  try {
    run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "table_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
