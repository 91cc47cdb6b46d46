/// A client in ten lines: `read_ten_lines URI COMMAND [ARGUMENT...]` starts a server and prints the content of the URI.
#include <cstdio>

#include <hondana/client.hpp>

int main(int count, char** arguments) {
  if (count < 3) return std::fputs("usage: read_ten_lines URI COMMAND [ARGUMENT...]\n", stderr), 1;
  auto server = hondana::client::connect(hondana::child_target{.command = {arguments + 2, arguments + count}});
  if (!server) return std::fprintf(stderr, "%s\n", server.error().public_text.c_str()), 1;
  const auto response = server->read(arguments[1]);
  if (!response) return std::fprintf(stderr, "%s\n", response.error().public_text.c_str()), 1;
  for (const auto& content : response->contents) std::fwrite(content.bytes.data(), 1, content.bytes.size(), stdout);
  return 0;
}
