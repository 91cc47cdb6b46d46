/// Serving one peer over standard input and output.
#include <hondana/server.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "server/core.hpp"
#include "session/session.hpp"
#include "transport/stdio/lines.hpp"
#include "transport/stdio/writer.hpp"

namespace hondana::inline v0 {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_line_bytes = 16u << 20;
constexpr std::size_t read_bytes = 64 * 1024;
// At the end of input: how long answers under way may take, and how long the peer may take nothing.
constexpr std::chrono::seconds drain_limit{1};
// After a stop: how long everything may take.
constexpr std::chrono::seconds stop_limit{5};

/// The stop that one serving at a time listens for.
class stop_bell {
 public:
  static stop_bell& only() {
    static stop_bell bell;
    return bell;
  }

  [[nodiscard]] int descriptor() const noexcept { return event_; }

  /// `hear` is called when the bell rings, or at once when it has rung already.
  void listen(std::function<void()> hear) {
    const std::lock_guard lock(mutex_);
    hear_ = std::move(hear);
    if (has_rung_ && hear_) hear_();
  }
  void ring() {
    const std::lock_guard lock(mutex_);
    has_rung_ = true;
    eventfd_write(event_, 1);
    if (hear_) hear_();
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    hear_ = nullptr;
    has_rung_ = false;
    eventfd_t count = 0;
    eventfd_read(event_, &count);
  }

 private:
  int event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::mutex mutex_;
  std::function<void()> hear_;
  bool has_rung_ = false;
};

/// Waits for input. False when serving must stop: a stop was asked for or output has failed.
bool wait_for_input(const transport::stdio::line_writer& out) {
  for (;;) {
    pollfd events[] = {
        {STDIN_FILENO, POLLIN, 0}, {stop_bell::only().descriptor(), POLLIN, 0}, {out.failure_descriptor(), POLLIN, 0}};
    const int ready = ::poll(events, 3, -1);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && events[1].revents == 0 && events[2].revents == 0;
  }
}

/// Whether the peer has closed its end, even while messages of it are still to be read.
bool input_has_ended() {
  pollfd input{STDIN_FILENO, POLLRDHUP, 0};
  return ::poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLRDHUP)) != 0;
}

}  // namespace

int serve_stdio(server& server) {
  const auto& core = server.engine();
  const auto options = core->options();
  const auto out = std::make_shared<transport::stdio::line_writer>(
      STDOUT_FILENO, transport::stdio::line_writer::limits{options.stall_limit, options.call_deadline, 128, 16u << 20},
      options.log);
  stop_bell::only().listen([out] { out->hurry(stop_limit, clock::now() + stop_limit); });
  const auto conversation = session::session::open(core);
  out->follow(conversation->standing());
  rpc::facts facts;
  facts.who.identity = "local";

  const auto look = [&out] {
    if (input_has_ended()) out->hurry(drain_limit, clock::time_point::max());
  };
  const auto take = [&](std::string_view line) {
    out->wait_for_room(look);
    out->expect_answer();
    conversation->receive(line, facts, out);
  };
  const auto refuse = [&] {
    out->wait_for_room(look);
    out->expect_answer();
    conversation->refuse_oversized(max_line_bytes, facts, out);
  };

  transport::stdio::line_splitter lines(max_line_bytes);
  std::vector<char> buffer(read_bytes);
  bool is_good = true;
  while (wait_for_input(*out)) {
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      if (options.log) options.log(std::string("input: cannot read: ") + std::strerror(errno));
      is_good = false;
      break;
    }
    if (count == 0) {
      if (!lines.rest().empty()) take(lines.rest());
      break;
    }
    lines.feed({buffer.data(), static_cast<std::size_t>(count)}, take, refuse);
  }
  conversation->finish();
  out->hurry(drain_limit, clock::time_point::max());
  is_good = out->finish(clock::now() + drain_limit) && is_good;
  conversation->close();
  stop_bell::only().reset();
  return is_good ? 0 : 1;
}

void stop_serving_stdio() { stop_bell::only().ring(); }

}  // namespace hondana::inline v0
