/// How quickly cached analyses are served over HTTP, beside reads of a small file of the same size by the same server in the
/// same run: by URI, by prompt, and by the tool that looks one up.
///
/// Usage: hits_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Prints a Markdown table.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../figures/figures.hpp"
#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../process/child.hpp"
#include "../process/scratch.hpp"

namespace {

constexpr std::array crowds{1, 32};

std::string message_of(std::string_view method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(http_bench::same_width_id) + R"(,"method":")" + std::string(method) +
         R"(","params":{)" + params +
         R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

std::string call_of(const std::string& tool, const std::string& arguments) {
  const auto message = message_of("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments);
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " +
         tool + "\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

std::string read_of(const std::string& uri) { return http_bench::post("/mcp", "resources/read", uri); }

/// The text member of this name that comes first.
std::string member_in(const std::string& body, const std::string& name) {
  const auto mark = "\"" + name + "\":\"";
  const auto at = body.find(mark);
  if (at == std::string::npos) throw std::runtime_error("no " + name + " in " + body.substr(0, 500));
  const auto from = at + mark.size();
  return body.substr(from, body.find('"', from) - from);
}

/// JSON text as it stands inside of a JSON text.
std::string unescaped(std::string text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      out += text[at] == 'n' ? '\n' : text[at];
    } else {
      out += text[at];
    }
  }
  return out;
}

/// What stands in the one content of a read, in JSON's spelling.
std::string content_of(const std::string& body) {
  const auto mark = std::string("\"text\":\"");
  const auto from = body.find(mark) + mark.size();
  auto end = from;
  while (end < body.size() && body[end] != '"') end += body[end] == '\\' ? 2 : 1;
  return unescaped(body.substr(from, end - from));
}

struct question {
  std::string name;
  std::string request;
  std::size_t body = 0;
};

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  const auto on = bench::cores_here();
  bench::stay_on(on.of_peers);
  const bench::scratch in;
  const auto port = http_bench::free_port();
  in.put("served/small.txt", "A small text.\n");
  in.put("hits.toml",
         "[http]\nport = " + std::to_string(port) +
             "\nthreads = 1\n[[source]]\ntype = \"files\"\npath = \"served\"\n[[source]]\ntype = \"analyses\"\nstore = "
             "\"store/analyses.db\"\n");
  const http_bench::contestant server({program, "serve", "--config", in.path("hits.toml")}, on.of_server, port,
                                      in.path("hits.out"));
  const std::string asked = R"("prompt":"この設計は妥当ですか。","models":["a","b","c"])";
  const std::string whole =
      "{" + asked +
      R"(,"consensus":{"content":"妥当です。ただし期限切れの扱いを明記してください。","confidence":0.95},)"
      R"("votes":[{"provider":"a","content":"はい","confidence":0.9,"agreement":0.9},)"
      R"({"provider":"b","content":"はい","confidence":0.9,"agreement":0.95},)"
      R"({"provider":"c","content":"おおむね","confidence":0.8,"agreement":0.8}]})";
  const auto put = http_bench::fetch(port, call_of("analysis_put", R"({"analysis":)" + whole + "}")).body;
  const auto uri = member_in(put, "uri");
  const auto by_prompt = member_in(put, "byPrompt");
  // The file has just as much in it.
  in.put("served/small.txt", content_of(http_bench::fetch(port, read_of(uri)).body));
  std::vector<question> all{
      {"read of a small file", read_of("file://" + in.path("served/small.txt"))},
      {"hit by its URI", read_of(uri)},
      {"hit by its prompt", read_of(by_prompt)},
      {"file by read_resource", call_of("read_resource", R"({"uri":"file://)" + in.path("served/small.txt") + R"("})")},
      {"hit by analysis_get", call_of("analysis_get", "{" + asked + "}")}};
  for (auto& one : all) {
    const auto body = http_bench::settled(port, one.request);
    if (body.find("\"result\"") == std::string::npos || body.find("\"isError\":true") != std::string::npos)
      throw std::runtime_error(one.name + ": " + body.substr(0, 500));
    one.body = body.size();
  }
  std::printf("| what is asked | connections | requests/s | µs CPU a request | p99 µs | of the file's speed |\n");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  for (const int connections : crowds) {
    std::vector<bench::figures> got(all.size());
    for (int turn = 0; turn < repetitions; ++turn) {
      for (std::size_t i = 0; i < all.size(); ++i)
        http_bench::measure(server, all[i].request, all[i].body, connections, time, got[i]);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Tools are held against a tool.
      constexpr std::size_t first_tool = 3;
      const auto rate = bench::median(got[i].rates);
      const auto beside = bench::median(got[i < first_tool ? 0 : first_tool].rates);
      std::printf("| %s | %d | %.0f | %.1f | %.0f | %.3f |\n", all[i].name.c_str(), connections, rate,
                  bench::median(got[i].costs), bench::median(got[i].p99), rate / beside);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "hits_bench", run); }
