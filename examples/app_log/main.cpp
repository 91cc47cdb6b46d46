/// A complete MCP server: one resource, `file:///logs/app.log`, over standard input and output.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

int main() {
  auto logs = std::make_shared<hondana::memory_provider>("logs", "file:///logs/");
  auto added = logs->add({.uri = "file:///logs/app.log", .name = "Application Logs", .mime_type = "text/plain"},
                         [](const hondana::read_request&) -> hondana::result<hondana::read_result> {
                           std::ifstream file("app.log");
                           if (!file) return hondana::fail(hondana::errc::source_unavailable, "app.log cannot be opened");
                           return hondana::text_read_result(std::string(std::istreambuf_iterator<char>(file), {}));
                         });
  auto server = hondana::server::create({.name = "example-server", .version = "1.0.0"});
  if (!added || !server || !server->add(logs)) return 1;
  return hondana::serve_stdio(*server);
}
