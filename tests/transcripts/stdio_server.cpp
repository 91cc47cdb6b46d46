/// A server program: serves the named fixture over standard input and output.
#include <cstdio>

#include <hondana/server.hpp>

#include "transcripts/servers.hpp"

int main(int count, char** arguments) {
  auto server = transcripts::make_server(count > 1 ? arguments[1] : "demo");
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().c_str());
    return 2;
  }
  return hondana::serve_stdio(*server);
}
