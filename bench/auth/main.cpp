/// What it costs to know who asks: small reads over HTTP with nobody asked, with tokens from a file, and with tokens of an
/// authorization server (ES256), of the real program in the same run.
///
/// Usage: auth_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Prints a Markdown table.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "issuer.hpp"

namespace {

namespace fs = std::filesystem;
using http_bench::contestant;

constexpr std::array crowds{1, 32, 256};

/// One server, and the request that it answers.
struct entrant {
  std::string name;
  std::unique_ptr<contestant> server;
  std::string request;
  std::size_t body = 0;
};

std::string new_token(const std::string& program, const fs::path& file) {
  const auto said = file.string() + ".said";
  const auto command = '"' + program + "\" token new bench --scope shelf:read --file \"" + file.string() + "\" > \"" + said +
                       "\" 2> \"" + said + ".why\"";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("no token can be made: " + http_bench::text_in(said + ".why"));
  const auto text = http_bench::text_in(said);
  const auto begin = text.find("hondana_");
  if (begin == std::string::npos) throw std::runtime_error("`hondana token new` printed no token");
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

entrant enter(const std::string& name, const std::string& program, const http_bench::scratch& in, const std::string& auth,
              std::uint16_t port, const std::string& token, int core) {
  const auto config = in.path / (std::to_string(port) + ".toml");
  http_bench::write(config, "[http]\nport = " + std::to_string(port) + "\nthreads = 1\n" + auth +
                                "[[source]]\ntype = \"files\"\npath = \"served\"\n");
  entrant out{name,
              std::make_unique<contestant>(std::vector<std::string>{program, "serve", "--config", config.string()}, core, port,
                                           config.string() + ".out"),
              http_bench::post("/mcp", "resources/read", "file://" + (in.path / "served" / "small.txt").string(),
                               token.empty() ? "" : "Authorization: Bearer " + token + "\r\n")};
  const auto body = http_bench::settled(port, out.request);
  if (body.find("\"result\"") == std::string::npos) throw std::runtime_error(name + ": " + body.substr(0, 300));
  out.body = body.size();
  return out;
}

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  const bool is_pinned = std::thread::hardware_concurrency() > 1;
  const int core = is_pinned ? 0 : -1;
  http_bench::stay_on(is_pinned ? 1 : -1);
  const http_bench::scratch in;
  fs::create_directories(in.path / "served");
  http_bench::write(in.path / "served" / "small.txt", "A small text, as most are.\n");
  const auth_bench::issuer issuer;
  const auto tokens = in.path / "tokens";
  const auto token = new_token(program, tokens);
  std::vector<entrant> all;
  all.push_back(enter("nobody is asked", program, in, "", http_bench::free_port(), "", core));
  all.push_back(enter("tokens from a file", program, in, "[auth]\ntokens = \"" + tokens.string() + "\"\n",
                      http_bench::free_port(), token, core));
  const auto port = http_bench::free_port();
  const auto resource = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  all.push_back(enter("JSON Web Tokens", program, in,
                      "[auth.oauth]\nissuer = \"" + issuer.url() + "\"\nresource = \"" + resource + "\"\n", port,
                      issuer.token(resource), core));

  std::printf("Servers on %s, load on %s; medians of %d runs of %lld ms each, interleaved.\n\n",
              is_pinned ? "core 0" : "any core", is_pinned ? "core 1" : "any core", repetitions,
              static_cast<long long>(time.count()));
  std::printf(
      "| who asks | connections | requests/s | µs CPU a request | of the speed without |\n| --- | --- | --- | --- | --- |\n");
  for (const int connections : crowds) {
    std::vector<http_bench::figures> got(all.size());
    for (int turn = 0; turn < repetitions; ++turn) {
      for (std::size_t i = 0; i < all.size(); ++i)
        http_bench::measure(*all[i].server, all[i].request, all[i].body, connections, time, got[i]);
    }
    const auto without = http_bench::median(got.front().rates);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto rate = http_bench::median(got[i].rates);
      std::printf("| %s | %d | %.0f | %.1f | %.3f |\n", all[i].name.c_str(), connections, rate,
                  http_bench::median(got[i].costs), rate / without);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "auth_bench", run); }
