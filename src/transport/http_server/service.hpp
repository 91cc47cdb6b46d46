/// The HTTP server behind `hondana::http_service`: listens, and runs its I/O loops.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "transport/http_server/limits.hpp"

namespace hondana::transport::http_server {

/// Listening sockets whose connections go round-robin to the I/O loops. Threads: calls from one thread at a time, but for those
/// that say otherwise.
class service {
 public:
  /// Binds, listens and serves. `stall` and `pull_time` are the server's `stall_limit` and `call_deadline`, whatever `within`
  /// says. Errors: as `http_service::start`.
  [[nodiscard]] static result<std::unique_ptr<service>> start(std::shared_ptr<core> engine, const http_options& where,
                                                              const limits& within);
  /// As `drain` without patience.
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::uint16_t admin_port() const noexcept;
  /// As `http_service::reload_certificates`. Threads: any.
  [[nodiscard]] result<void> reload_certificates();
  /// Reports that the server stops, accepts no more messages, closes connections without a request, lets the others finish
  /// until `limit` has passed, closes all and joins the threads. Harmless when repeated.
  void drain(std::chrono::milliseconds limit);
  /// Connections for messages that are open now. Threads: any.
  [[nodiscard]] std::size_t connections() const;
  /// Sessions that are kept now. Threads: any.
  [[nodiscard]] std::size_t sessions() const;

 private:
  struct state;
  explicit service(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::transport::http_server
