/// Implements `hondana::http_service`: listens, and runs the event loops.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "transport/http_server/limits.hpp"

namespace hondana::transport::http_server {

/// Accepts connections and distributes them round-robin to the event loops. Threads: one at a time, except where noted.
class service {
 public:
  /// Opens the sockets and serves them on threads of its own. Instead of `stall_timeout` and `pull_timeout` of `limits`, new
  /// connections use `stall_timeout` and `call_timeout` of `server_options`. Errors: those of `http_service::start`.
  [[nodiscard]] static result<std::unique_ptr<service>> start(std::shared_ptr<server_core> core, const http_options& options,
                                                              const limits& limits);
  /// Like `drain` with a timeout of 0.
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// The port for messages; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The port that serves only reports; 0: none, or a Unix socket.
  [[nodiscard]] std::uint16_t admin_port() const noexcept;
  /// See `http_service::reload_certificates`. Threads: any.
  [[nodiscard]] result<void> reload_certificates();
  /// Stops the server: reports it as not ready, accepts no more connections for messages, and closes those without a request.
  /// Waits at most `timeout` for the others, then closes all connections and joins the threads. May be called repeatedly.
  void drain(std::chrono::milliseconds timeout);
  /// The number of open connections for messages. Threads: any.
  [[nodiscard]] std::size_t connections() const;
  /// The number of stored sessions. Threads: any.
  [[nodiscard]] std::size_t sessions() const;

 private:
  struct state;
  explicit service(std::unique_ptr<state> initial) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::transport::http_server
