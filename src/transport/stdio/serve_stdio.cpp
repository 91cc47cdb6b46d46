/// Serves one peer over standard input and output.

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "base/executor/batching.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "transport/stdio/input.hpp"
#include "transport/stdio/line_writer.hpp"

namespace hondana::inline v0 {
namespace {

using clock = monotonic_clock;

constexpr std::size_t max_line_bytes = 16u << 20;
constexpr std::size_t read_buffer_bytes = 64 * 1024;
// Limit for the whole shutdown after a stop.
constexpr std::chrono::seconds stop_timeout{5};

/// The stop signal for the one `serve_stdio` that may run at a time.
class stop_notifier {
 public:
  static stop_notifier& instance() {
    static stop_notifier notifier;
    return notifier;
  }

  /// `listener` is called on a stop, or immediately if there was one already.
  void set_listener(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    if (is_stopped_ && listener_) listener_();
  }
  void notify() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    if (listener_) listener_();
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
    is_stopped_ = false;
  }

 private:
  std::mutex mutex_;
  std::function<void()> listener_;
  bool is_stopped_ = false;
};

}  // namespace

int serve_stdio(server& server) {
  const auto& core = server.core();
  const auto options = core->options();
  const auto writer = std::make_shared<transport::stdio::line_writer>(
      STDOUT_FILENO, transport::stdio::line_writer::limits{options.stall_timeout, options.call_timeout, 128, 16u << 20},
      options.log);
  const auto reader = std::make_shared<transport::stdio::input>(STDIN_FILENO);
  writer->on_failure([reader] { reader->stop(); });
  stop_notifier::instance().set_listener([reader, writer] {
    writer->shorten_timeouts(stop_timeout, clock::now() + stop_timeout);
    reader->stop();
  });
  const auto client_session = session::session::open(core);
  writer->stream(client_session->notification_stream());
  rpc::request_info request_info;
  request_info.caller.identity = "local";

  const std::function<void()> check_input = [&reader, &writer, &options] {
    if (reader->has_peer_closed()) writer->shorten_timeouts(options.stdio_drain_timeout, clock::time_point::max());
  };
  const auto receive_line = [&](std::string_view line) {
    writer->admit_request(check_input);
    client_session->receive(line, request_info, writer);
  };
  const auto reject_oversized = [&] {
    writer->admit_request(check_input);
    client_session->reject_oversized(max_line_bytes, request_info, writer);
  };

  transport::stdio::line_splitter lines(max_line_bytes);
  const auto buffer = std::make_unique_for_overwrite<char[]>(read_buffer_bytes);
  bool is_good = true;
  for (;;) {
    const auto count = reader->read(buffer.get(), read_buffer_bytes);
    if (!count) {
      if (options.log) options.log("input: " + count.error().public_text + ": " + count.error().private_text);
      is_good = false;
      break;
    }
    if (!*count) break;
    if (**count == 0) {
      if (!lines.remainder().empty()) receive_line(lines.remainder());
      break;
    }
    writer->begin_batch();
    const executor::message_batch batch;
    lines.feed({buffer.get(), **count}, receive_line, reject_oversized);
    writer->end_batch();
  }
  writer->on_failure({});
  client_session->finish();
  writer->shorten_timeouts(options.stdio_drain_timeout, clock::time_point::max());
  is_good = writer->finish(clock::now() + options.stdio_drain_timeout) && is_good;
  client_session->close();
  stop_notifier::instance().reset();
  return is_good ? 0 : 1;
}

void stop_serving_stdio() { stop_notifier::instance().notify(); }

}  // namespace hondana::inline v0
