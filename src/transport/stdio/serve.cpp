/// Serving one peer over standard input and output.
#include <hondana/server.hpp>

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

#include "server/core.hpp"
#include "session/session.hpp"
#include "transport/stdio/lines.hpp"
#include "transport/stdio/writer.hpp"

namespace hondana::inline v0 {
namespace {

constexpr std::size_t max_line_bytes = 16u << 20;
constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::chrono::seconds drain_limit{1};

int stop_event() {
  static const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event;
}

/// Waits for input. False when serving must stop: a stop was asked for or output has failed.
bool wait_for_input(const transport::stdio::line_writer& out) {
  for (;;) {
    pollfd events[] = {{STDIN_FILENO, POLLIN, 0}, {stop_event(), POLLIN, 0}, {out.failure_descriptor(), POLLIN, 0}};
    const int ready = ::poll(events, 3, -1);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && events[1].revents == 0 && events[2].revents == 0;
  }
}

}  // namespace

int serve_stdio(server& server) {
  const auto core = server.engine();
  const auto options = core->options();
  const auto out = std::make_shared<transport::stdio::line_writer>(
      STDOUT_FILENO, transport::stdio::line_writer::limits{options.stall_limit, options.call_deadline, 128}, options.log);
  const auto conversation = session::session::open(core);
  rpc::facts facts;
  facts.who.identity = "local";

  const auto take = [&](std::string_view line) {
    out->expect_answer();
    conversation->receive(line, facts, out);
  };
  const auto refuse = [&] {
    out->expect_answer();
    conversation->refuse_oversized(max_line_bytes, facts, out);
  };

  transport::stdio::line_splitter lines(max_line_bytes);
  std::vector<char> buffer(read_bytes);
  bool is_good = true;
  while (is_good && wait_for_input(*out)) {
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0 && options.log) options.log(std::string("input: cannot read: ") + std::strerror(errno));
    if (count <= 0) {
      if (!lines.rest().empty()) take(lines.rest());
      break;
    }
    lines.feed({buffer.data(), static_cast<std::size_t>(count)}, take, refuse);
    is_good = out->wait_for_room();
  }
  is_good = out->finish(std::chrono::steady_clock::now() + drain_limit) && is_good;
  conversation->close();
  return is_good ? 0 : 1;
}

void stop_serving_stdio() { eventfd_write(stop_event(), 1); }

}  // namespace hondana::inline v0
