/// The state of one I/O thread: its event loop, its connections, and what these share.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/executor/batching.hpp"
#include "base/json/buffer.hpp"
#include "os/reactor/reactor.hpp"
#include "protocol/rpc/message.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/sessions.hpp"
#include "transport/http_server/status_pages.hpp"

namespace hondana::transport::http_server {

class connection;

/// The state of one I/O thread. Shared with the streams of its connections, which may get messages after the thread has ended;
/// such messages are dropped.
struct io_loop final : executor::step_executor {
  io_loop(std::shared_ptr<byte_budget> shared_bodies, std::shared_ptr<byte_budget> shared_unsent,
          std::shared_ptr<http_server::status_reports> shared_reports, std::shared_ptr<session_store> shared_sessions,
          std::shared_ptr<const authentication_settings> shared_authentication)
      : body_budget(std::move(shared_bodies)),
        unsent_budget(std::move(shared_unsent)),
        reports(std::move(shared_reports)),
        sessions(std::move(shared_sessions)),
        authentication(std::move(shared_authentication)) {
    io.on_iteration_end([this] { process_arrivals(); });
  }

  /// Schedules `connection->flush()`. Many calls at once wake the loop only once, and connections are processed in groups,
  /// between which requests are served. Threads: any; calls no callback, and takes no lock that a caller may hold.
  void schedule(std::weak_ptr<connection> connection);

  void run_in_steps(std::function<bool()> step) override;

  /// Returns a buffer to read into, with space for at least one TLS record; valid until the next call. May process arrivals.
  [[nodiscard]] std::span<char> read_buffer();
  /// Call this when `receiver` has read `bytes` into the front of `read_buffer()`. Calls `receiver->process()` at the end of
  /// the iteration, so that all connections together determine the time only once, which saves system calls.
  void add_arrival(std::shared_ptr<connection> receiver, std::size_t bytes);

  // Shared by all loops and thread-safe.
  const std::shared_ptr<byte_budget> body_budget;
  const std::shared_ptr<byte_budget> unsent_budget;
  const std::shared_ptr<http_server::status_reports> reports;
  const std::shared_ptr<session_store> sessions;
  const std::shared_ptr<const authentication_settings> authentication;
  reactor::reactor io;
  // Used only by the loop's own thread.
  std::string event_buffer;                       // for events that a connection sends
  std::vector<json::buffer> spare_buffers;        // for pieces of answers
  std::unique_ptr<rpc::request_info> spare_info;  // of a finished request, for reuse
  std::unordered_set<std::shared_ptr<connection>> connections;

 private:
  /// Bytes that a connection has read.
  struct arrival {
    std::shared_ptr<connection> receiver;
    std::string_view bytes;
  };
  void process_arrivals();
  std::array<char, 64u << 10> scratch_;  // the bytes of `arrivals_`, then free space
  std::size_t scratch_used_ = 0;
  std::vector<arrival> arrivals_;
  std::size_t next_arrival_ = 0;  // the first that is not processed yet

  void process_scheduled();
  void run_step(const std::shared_ptr<std::function<bool()>>& step);
  std::vector<std::weak_ptr<connection>> processing_;  // taken from `scheduled_`
  std::size_t processed_ = 0;                          // number of processed ones

  std::mutex schedule_mutex_;
  std::vector<std::weak_ptr<connection>> scheduled_;
  bool is_posted_ = false;
};

}  // namespace hondana::transport::http_server
