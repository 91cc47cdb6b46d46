/// A server program: serves the named fixture over standard input and output.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "transcripts/line.hpp"
#include "transcripts/servers.hpp"

int main(int count, char** arguments) {
  static hondana::manual_clock clock;  // The thread below may outlive everything else.
  std::thread([] {
    for (char step = 0; ::read(transcripts::clock_descriptor, &step, 1) == 1;) clock.advance(transcripts::time_step);
  }).detach();
  auto server = transcripts::make_server(count > 1 ? arguments[1] : "demo");
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().c_str());
    return 2;
  }
  return hondana::serve_stdio(*server);
}
