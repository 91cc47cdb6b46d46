/// What answering over HTTP costs, beside nginx in the same run: requests a second and processor time a request, of the real
/// program on one core with the load on another.
///
/// Usage: http_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Prints a Markdown table. Without nginx, only our own figures.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contestant.hpp"
#include "workload.hpp"

namespace {

namespace fs = std::filesystem;
using http_bench::contestant;
using http_bench::figures;
using http_bench::measure;
using http_bench::median;
using http_bench::post;
using http_bench::scratch;
using http_bench::settled;
using http_bench::write;

constexpr std::size_t mebibyte = 1u << 20;
constexpr int listed = 100;
constexpr int crowds[] = {1, 32, 256};

/// What is asked, of us and of nginx.
struct work {
  std::string name;
  std::string request;
  std::string body;  ///< The answer's, which nginx serves as a file.
};

/// Lines of prose, with an escape now and then as in any text.
std::string text_of(std::size_t size) {
  std::string out;
  for (int line = 1; out.size() < size; ++line) {
    out += "Line " + std::to_string(line) + " says \"nothing much\", but says it in ordinary words of ordinary length.\n";
  }
  out.resize(size);
  return out;
}

std::string blob_of(std::size_t size) {
  std::string out(size, '\0');
  std::uint64_t state = 88172645463325252u;
  for (auto& byte : out) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  return out;
}

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

std::vector<work> prepare(const fs::path& folder, const contestant& ours) {
  const auto uri = [&folder](const char* name) { return "file://" + (folder / name).string(); };
  std::vector<work> all{{"small read", post("/mcp", "resources/read", uri("small.txt")), {}},
                        {"1 MiB text", post("/mcp", "resources/read", uri("text.txt")), {}},
                        {"1 MiB blob", post("/mcp", "resources/read", uri("blob.bin")), {}},
                        {"list of 100", post("/mcp", "resources/list", {}), {}}};
  for (auto& one : all) {
    one.body = settled(ours.port(), one.request);
    if (one.body.find("\"result\"") == std::string::npos) throw std::runtime_error(one.name + ": " + one.body.substr(0, 300));
  }
  return all;
}

void write_served(const fs::path& folder) {
  fs::create_directories(folder);
  write(folder / "small.txt", "A small text, as most are.\n");
  write(folder / "text.txt", text_of(mebibyte));
  write(folder / "blob.bin", blob_of(mebibyte));
  for (int i = 3; i < listed; ++i) write(folder / ("note-" + std::to_string(i) + ".txt"), "A note.\n");
}

std::unique_ptr<contestant> start_nginx(const scratch& in, const std::vector<work>& all, int core) {
  const auto port = http_bench::free_port();
  fs::create_directories(in.path / "static");
  fs::create_directories(in.path / "tmp");
  for (std::size_t i = 0; i < all.size(); ++i) write(in.path / "static" / std::to_string(i), all[i].body);
  std::string temporary;
  for (const auto* what : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    temporary += std::string("  ") + what + "_temp_path tmp/" + what + ";\n";
  }
  write(in.path / "nginx.conf",
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log nginx.log crit;\n"
        "events { worker_connections 1024; }\nhttp {\n" +
            temporary +
            "  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  tcp_nodelay on;\n  keepalive_requests 1000000000;\n"
            "  default_type application/json;\n  open_file_cache max=16;\n"
            "  server {\n    listen 127.0.0.1:" +
            std::to_string(port) + " backlog=1024;\n    root " + in.path.string() + ";\n    location = /return { return 200 '" +
            std::string(all[0].body.size(), 'x') + "'; }\n  }\n}\n");
  return std::make_unique<contestant>(
      std::vector<std::string>{"nginx", "-p", in.path.string(), "-c", (in.path / "nginx.conf").string()}, core, port,
      in.path / "nginx.out");
}

bool has_nginx() { return std::system("command -v nginx >/dev/null 2>&1") == 0; }

void print(const figures& what) {
  if (what.rates.empty()) {
    std::printf(" – | – |");
  } else {
    std::printf(" %.0f | %.1f |", median(what.rates), median(what.costs));
  }
}

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  const bool is_pinned = std::thread::hardware_concurrency() > 1;
  const int servers_core = is_pinned ? 0 : -1;
  http_bench::stay_on(is_pinned ? 1 : -1);
  ::setenv("PATH", (std::string(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin") + ":/usr/sbin").c_str(), 1);
  const scratch in;
  const auto served = in.path / "served";
  write_served(served);
  const auto port = http_bench::free_port();
  write(in.path / "hondana.toml",
        "[http]\nport = " + std::to_string(port) + "\nthreads = 1\n[[source]]\ntype = \"files\"\npath = \"served\"\n");
  const contestant ours({program, "serve", "--config", (in.path / "hondana.toml").string()}, servers_core, port,
                        in.path / "hondana.out");
  const auto all = prepare(served, ours);
  const auto nginx = has_nginx() ? start_nginx(in, all, servers_core) : nullptr;
  std::printf("Servers on %s, load on %s; medians of %d runs of %lld ms each, interleaved%s.\n\n",
              is_pinned ? "core 0" : "any core", is_pinned ? "core 1" : "any core", repetitions,
              static_cast<long long>(time.count()), nginx ? "" : "; there is no nginx here");
  std::printf(
      "| work | connections | hondana, requests/s | µs CPU a request | nginx `return 200`, requests/s | µs CPU a request | "
      "nginx, the same bytes from a file, requests/s | µs CPU a request |\n| --- | --- | --- | --- | --- | --- | --- | --- "
      "|\n");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& one = all[i];
    for (const int connections : crowds) {
      figures own;
      figures bare;
      figures file;
      for (int turn = 0; turn < repetitions; ++turn) {
        measure(ours, one.request, one.body.size(), connections, time, own);
        if (!nginx) continue;
        // Only small answers are like an answer without content.
        if (i == 0) measure(*nginx, post("/return", "resources/read", "file:///a"), one.body.size(), connections, time, bare);
        measure(*nginx, get("/static/" + std::to_string(i)), one.body.size(), connections, time, file);
      }
      std::printf("| %s, %zu bytes | %d |", one.name.c_str(), one.body.size(), connections);
      print(own);
      print(bare);
      print(file);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "http_bench", run); }
