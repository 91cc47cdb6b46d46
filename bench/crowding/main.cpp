/// What callers that repeat something costly take from one who reads a small file: its waits alone, and beside 32 of them, for
/// the costliest request of several kinds of sources.
///
/// Usage: crowding_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Needs the git program. Prints a Markdown table.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../figures/figures.hpp"
#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../process/child.hpp"
#include "../process/scratch.hpp"

namespace {

constexpr int callers = 32;
constexpr int folder_files = 5'000;
constexpr int commits = 3'000;
constexpr std::size_t log_lines = 200'000;

void fill(const bench::scratch& in) {
  in.put("served/small.txt", "A small text.\n");
  for (int i = 0; i < folder_files; ++i) in.put("served/many/note-" + std::to_string(i) + ".txt", "x");
  std::string log;
  for (std::size_t i = 0; i < log_lines; ++i)
    log += "2026-01-01T00:00:00.000Z INFO request " + std::to_string(i) + " took " + std::to_string(i % 977) + " ms\n";
  in.put("app.log", log);
  std::string settings = "[table]\n";
  for (int i = 0; i < 20'000; ++i) settings += "key" + std::to_string(i) + " = \"value " + std::to_string(i) + "\"\n";
  in.put("conf/app.toml", settings);
  std::string stream;
  for (int i = 1; i <= commits; ++i) {
    const auto text = "change " + std::to_string(i);
    stream += "commit refs/heads/main\ncommitter A <a@example.org> " + std::to_string(1'600'000'000 + 60 * i) +
              " +0000\ndata " + std::to_string(text.size()) + '\n' + text + "\nM 644 inline f" + std::to_string(i % 500) +
              ".txt\ndata " + std::to_string(text.size()) + '\n' + text + '\n';
  }
  in.put("stream", stream);
  (void)bench::cost_of({"/bin/sh", "-c",
                        "cd '" + in.path("shelf-of-git") + "' 2>/dev/null || mkdir '" + in.path("shelf-of-git") + "' && cd '" +
                            in.path("shelf-of-git") +
                            "' && git init --quiet --initial-branch=main && git fast-import --quiet < '" + in.path("stream") +
                            "' && git reset --quiet --hard"});
}

struct question {
  std::string name;
  std::string request;
};

/// A list of the dialect, with a word that no entry has.
std::string filtered_list() {
  const std::string message =
      R"({"jsonrpc":"2.0","id":)" + std::string(http_bench::same_width_id) +
      R"(,"method":"resources/list","params":{"filter":{"text":"nowhere"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/list\r\nContent-Length: " +
         std::to_string(message.size()) + "\r\n\r\n" + message;
}

std::string read_of(const std::string& uri) { return http_bench::post("/mcp", "resources/read", uri); }

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  const bench::scratch in;
  const auto port = http_bench::free_port();
  fill(in);
  in.put("crowding.toml",
         "[http]\nport = " + std::to_string(port) +
             "\n[[source]]\ntype = \"files\"\npath = \"served\"\n[[source]]\ntype = \"git\"\npath = "
             "\"shelf-of-git\"\n[[source]]\ntype = \"log\"\npath = \"app.log\"\n[[source]]\ntype = "
             "\"config\"\nname = \"shop\"\npaths = [\"conf\"]\n[[source.layer]]\nname = \"app\"\nfile = \"conf/app.toml\"\n");
  const http_bench::contestant server({program, "serve", "--config", in.path("crowding.toml")}, -1, port,
                                      in.path("crowding.out"));
  const auto small = read_of("file://" + in.path("served/small.txt"));
  const std::vector<question> costly{
      {"a folder of 5 000 files", read_of("file://" + in.path("served/many"))},
      {"a list of 5 000 entries through a filter", filtered_list()},
      {"1 000 commits of a log", read_of("git://shelf-of-git/log?limit=1000")},
      {"a search in a log of 200 000 lines", read_of("log://app/?grep=no%20such%20line")},
      {"20 000 settings merged", read_of("config://shop/merged")},
  };
  const auto size_of = [port](const question& one) {
    const auto body = http_bench::settled(port, one.request);
    if (body.find("\"result\"") == std::string::npos) throw std::runtime_error(one.name + ": " + body.substr(0, 500));
    return body.size();
  };
  const auto small_size = size_of({"a small file", small});
  std::printf("| beside 32 callers that repeat | their requests/s | small reads/s | p50 ms | p99 ms |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  const auto print = [](const std::string& name, double theirs, const bench::figures& got) {
    std::printf("| %s | %.1f | %.0f | %.2f | %.2f |\n", name.c_str(), theirs, bench::median(got.rates),
                bench::median(got.p50) / 1'000, bench::median(got.p99) / 1'000);
    std::fflush(stdout);
  };
  bench::figures alone;
  for (int turn = 0; turn < repetitions; ++turn) alone.add(http_bench::generate(port, small, small_size, 1, time), 0, 0);
  print("nothing", 0, alone);
  for (const auto& one : costly) {
    const auto size = size_of(one);
    bench::figures got;
    std::vector<double> theirs;
    for (int turn = 0; turn < repetitions; ++turn) {
      std::exception_ptr failed;
      bench::outcome crowd;
      std::thread others([&] {
        try {
          crowd = http_bench::generate(port, one.request, size, callers, time + time / 2);
        } catch (...) {
          failed = std::current_exception();
        }
      });
      try {
        got.add(http_bench::generate(port, small, small_size, 1, time), 0, 0);
      } catch (...) {
        others.join();
        throw;
      }
      others.join();
      if (failed) std::rethrow_exception(failed);
      theirs.push_back(static_cast<double>(crowd.answers) / crowd.seconds);
    }
    print(one.name, bench::median(theirs), got);
  }
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "crowding_bench", run); }
