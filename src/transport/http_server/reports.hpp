/// What the server says of itself to those who watch it: health and readiness.
#pragma once

#include <atomic>
#include <memory>

#include "server/core/core.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// Shared by all connections of a service. Threads: any; nothing blocks.
class reports {
 public:
  explicit reports(std::shared_ptr<core> engine) noexcept : engine_(std::move(engine)) {}

  /// 200 as long as the process answers; the content says which sources are well, and whether the record of requests can be
  /// kept. For restarting it and for people.
  [[nodiscard]] plain_answer health() const;
  /// 200 when requests should be sent here: once every source has been well at the same time, until `begin_to_stop`; otherwise
  /// 503. A source that fails later makes no other source unreachable; a record that cannot be kept does, until it can.
  [[nodiscard]] plain_answer readiness();
  void begin_to_stop() noexcept { stopping_ = true; }
  [[nodiscard]] bool has_begun_to_stop() const noexcept { return stopping_; }

 private:
  std::shared_ptr<core> engine_;
  std::atomic<bool> was_ready_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace hondana::transport::http_server
