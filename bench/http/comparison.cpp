/// Servers that take turns.
#include "comparison.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "generator.hpp"

namespace http_bench {
namespace {

constexpr std::array crowds{1, 32, 256};

}  // namespace

comparison::comparison(std::string program) : program_(std::move(program)), on_(bench::cores_here()) {
  bench::stay_on(on_.of_peers);
  in_.put("served/small.txt", "A small text, as most are.\n");
}

void comparison::enter(const std::string& name, std::uint16_t port, const configuration& how) {
  const auto name_of_config = std::to_string(port) + ".toml";
  const auto config = in_.path(name_of_config);
  in_.put(name_of_config, "[http]\nport = " + std::to_string(port) + "\nthreads = 1\n" + how.tables +
                              "[[source]]\ntype = \"files\"\npath = \"served\"\n" + how.of_source);
  entrant one{name,
              std::make_unique<contestant>(std::vector<std::string>{program_, "serve", "--config", config}, on_.of_server, port,
                                           config + ".out"),
              post("/mcp", "resources/read", "file://" + in_.path("served/small.txt"),
                   how.token.empty() ? "" : "Authorization: Bearer " + how.token + "\r\n")};
  const auto body = settled(port, one.request);
  if (body.find("\"result\"") == std::string::npos) throw std::runtime_error(name + ": " + body.substr(0, 300));
  one.body = body.size();
  all_.push_back(std::move(one));
}

void comparison::run(const char* what, std::chrono::milliseconds time, int repetitions) const {
  std::printf("Servers on %s, load on %s; medians of %d runs of %lld ms each, interleaved.\n\n",
              on_.of_peers >= 0 ? "core 0" : "any core", on_.of_peers >= 0 ? "core 1" : "any core", repetitions,
              static_cast<long long>(time.count()));
  std::printf("| %s | connections | requests/s | µs CPU a request | of the speed without |\n| --- | --- | --- | --- | --- |\n",
              what);
  for (const int connections : crowds) {
    std::vector<bench::figures> got(all_.size());
    for (int turn = 0; turn < repetitions; ++turn) {
      for (std::size_t i = 0; i < all_.size(); ++i)
        measure(*all_[i].server, all_[i].request, all_[i].body, connections, time, got[i]);
    }
    const auto without = bench::median(got.front().rates);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto rate = bench::median(got[i].rates);
      std::printf("| %s | %d | %.0f | %.1f | %.3f |\n", all_[i].name.c_str(), connections, rate, bench::median(got[i].costs),
                  rate / without);
    }
    std::fflush(stdout);
  }
}

}  // namespace http_bench
