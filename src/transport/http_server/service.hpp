/// The HTTP server behind `hondana::http_service`: listens, and runs its event loops.
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
  /// Binds, listens and serves. `stall` and `pull_time` of `within` are replaced by the server's `stall_limit` and
  /// `call_deadline`. Errors: those of `http_service::start`.
  [[nodiscard]] static result<std::unique_ptr<service>> start(std::shared_ptr<core> engine, const http_options& where,
                                                              const limits& within);
  /// Like `drain` with a limit of 0.
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::uint16_t admin_port() const noexcept;
  /// See `http_service::reload_certificates`. Threads: any.
  [[nodiscard]] result<void> reload_certificates();
  /// Reports that the server stops, accepts no more messages, and closes connections without a request. Waits at most `limit`
  /// for the others, then closes all and joins the threads. May be called repeatedly.
  void drain(std::chrono::milliseconds limit);
  /// Number of open connections for messages. Threads: any.
  [[nodiscard]] std::size_t connections() const;
  /// Number of stored sessions. Threads: any.
  [[nodiscard]] std::size_t sessions() const;

 private:
  struct state;
  explicit service(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::transport::http_server
