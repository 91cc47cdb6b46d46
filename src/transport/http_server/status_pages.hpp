/// Status of the server over HTTP: health, readiness and metrics.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/counters/metrics.hpp"
#include "server/core/core.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// Health and readiness, shared by all connections of a service. Threads: any; does not block.
class reports {
 public:
  explicit reports(std::shared_ptr<core> engine) noexcept : engine_(std::move(engine)) {}

  /// 200 as long as the process answers. The content lists the state of the sources, and whether audit records can be written.
  /// For liveness probes and for operators.
  [[nodiscard]] plain_answer health() const;
  /// 200 if requests should be sent here: from the time when all sources were healthy at once, until `begin_to_stop`; otherwise
  /// 503. A source that fails later does not change that. An audit log that cannot be written does, until it can be written
  /// again.
  [[nodiscard]] plain_answer readiness();
  void begin_to_stop() noexcept { stopping_ = true; }
  [[nodiscard]] bool has_begun_to_stop() const noexcept { return stopping_; }

 private:
  std::shared_ptr<core> engine_;
  std::atomic<bool> was_ready_{false};
  std::atomic<bool> stopping_{false};
};

/// Metrics in text format 0.0.4, or in OpenMetrics 1.0 if `accept`, the value of the field, prefers it. Contains no caller,
/// session or resource.
[[nodiscard]] plain_answer metrics_page(std::string_view accept, const counters::registry& of = counters::registry::here());

}  // namespace hondana::transport::http_server
