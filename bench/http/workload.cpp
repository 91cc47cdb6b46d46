/// Making requests, and measuring how they are answered.
#include "workload.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "generator.hpp"

namespace http_bench {

namespace fs = std::filesystem;

scratch::scratch() : path(fs::temp_directory_path() / ("hondana-bench-" + std::to_string(::getpid()))) {
  fs::create_directories(path);
}

scratch::~scratch() {
  std::error_code left_behind;
  fs::remove_all(path, left_behind);
}

void write(const fs::path& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string text_in(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::string post(const std::string& path, const std::string& method, const std::string& uri, const std::string& fields) {
  const auto message = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                       (uri.empty() ? "" : R"("uri":")" + uri + "\",") +
                       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nMCP-Protocol-Version: "
         "2026-07-28\r\nMcp-Method: " +
         method + (uri.empty() ? "" : "\r\nMcp-Name: " + uri) + "\r\n" + fields +
         "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

/// An answer that has not changed for longer than a walk of the folder is trusted: files are described after the first list.
std::string settled(std::uint16_t port, const std::string& request) {
  constexpr std::chrono::seconds long_enough{3};
  const auto give_up = std::chrono::steady_clock::now() + 20 * long_enough;
  auto body = fetch(port, request);
  for (auto since = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - since < long_enough;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto now = fetch(port, request);
    if (now == body) continue;
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("an answer keeps changing");
    body = std::move(now);
    since = std::chrono::steady_clock::now();
  }
  return body;
}

void measure(const contestant& by, const std::string& request, std::size_t body, int connections,
             std::chrono::milliseconds time, figures& into) {
  (void)generate(by.port(), request, body, connections, time / 10);  // warm
  const auto before = by.processor_seconds();
  const auto got = generate(by.port(), request, body, connections, time);
  const auto used = by.processor_seconds() - before;
  into.rates.push_back(static_cast<double>(got.answers) / got.seconds);
  into.costs.push_back(used * 1e6 / static_cast<double>(got.answers));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run_with(int count, char** arguments, const char* name,
             const std::function<void(const std::string&, std::chrono::milliseconds, int)>& run) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s PROGRAM [MILLISECONDS [REPETITIONS]]\n", name);
    return 2;
  }
  try {
    const int time = count > 2 ? std::atoi(arguments[2]) : 1000;
    const int repetitions = count > 3 ? std::atoi(arguments[3]) : 5;
    if (time < 10 || repetitions < 1) throw std::runtime_error("give at least 10 milliseconds and 1 repetition");
    run(arguments[1], std::chrono::milliseconds(time), repetitions);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace http_bench
