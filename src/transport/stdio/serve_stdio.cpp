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
constexpr std::size_t read_bytes = 64 * 1024;
// Limit for the whole shutdown after a stop.
constexpr std::chrono::seconds stop_limit{5};

/// The stop signal for the one `serve_stdio` that may run at a time.
class stop_bell {
 public:
  static stop_bell& only() {
    static stop_bell bell;
    return bell;
  }

  /// `hear` is called on a stop, or immediately if there was one already.
  void listen(std::function<void()> hear) {
    const std::lock_guard lock(mutex_);
    hear_ = std::move(hear);
    if (has_rung_ && hear_) hear_();
  }
  void ring() {
    const std::lock_guard lock(mutex_);
    has_rung_ = true;
    if (hear_) hear_();
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    hear_ = nullptr;
    has_rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::function<void()> hear_;
  bool has_rung_ = false;
};

}  // namespace

int serve_stdio(server& server) {
  const auto& core = server.engine();
  const auto options = core->options();
  const auto out = std::make_shared<transport::stdio::line_writer>(
      STDOUT_FILENO, transport::stdio::line_writer::limits{options.stall_limit, options.call_deadline, 128, 16u << 20},
      options.log);
  const auto in = std::make_shared<transport::stdio::input>(STDIN_FILENO);
  out->on_failure([in] { in->wake(); });
  stop_bell::only().listen([in, out] {
    out->hurry(stop_limit, clock::now() + stop_limit);
    in->wake();
  });
  const auto conversation = session::session::open(core);
  out->follow(conversation->standing());
  rpc::facts facts;
  facts.who.identity = "local";

  const std::function<void()> look = [&in, &out, &options] {
    if (in->has_ended()) out->hurry(options.stdio_drain, clock::time_point::max());
  };
  const auto take = [&](std::string_view line) {
    out->admit(look);
    conversation->receive(line, facts, out);
  };
  const auto refuse = [&] {
    out->admit(look);
    conversation->refuse_oversized(max_line_bytes, facts, out);
  };

  transport::stdio::line_splitter lines(max_line_bytes);
  const auto buffer = std::make_unique_for_overwrite<char[]>(read_bytes);
  bool is_good = true;
  for (;;) {
    const auto count = in->read(buffer.get(), read_bytes);
    if (!count) {
      if (options.log) options.log("input: " + count.error().public_text + ": " + count.error().private_text);
      is_good = false;
      break;
    }
    if (!*count) break;
    if (**count == 0) {
      if (!lines.rest().empty()) take(lines.rest());
      break;
    }
    out->begin_batch();
    const executor::round all;
    lines.feed({buffer.get(), **count}, take, refuse);
    out->end_batch();
  }
  out->on_failure({});
  conversation->finish();
  out->hurry(options.stdio_drain, clock::time_point::max());
  is_good = out->finish(clock::now() + options.stdio_drain) && is_good;
  conversation->close();
  stop_bell::only().reset();
  return is_good ? 0 : 1;
}

void stop_serving_stdio() { stop_bell::only().ring(); }

}  // namespace hondana::inline v0
