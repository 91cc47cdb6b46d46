/// Makes the answers about the status of the server: health, readiness and metrics.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/counters/metrics.hpp"
#include "server/core/core.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// Reports health and readiness, for all connections of a service. Threads: any; does not block.
class status_reports {
 public:
  explicit status_reports(std::shared_ptr<server_core> core) noexcept : core_(std::move(core)) {}

  /// Returns a 200 as long as the process answers. The content lists the state of the sources, and whether audit records can be
  /// written. For liveness probes and for operators.
  [[nodiscard]] plain_response health() const;
  /// Returns 200 if requests should be sent here, otherwise 503. 200 begins when all sources are healthy at once, even if one
  /// fails later, and ends with `set_stopping`. While audit records cannot be written, returns 503.
  [[nodiscard]] plain_response readiness();
  void set_stopping() noexcept { is_stopping_ = true; }
  [[nodiscard]] bool is_stopping() const noexcept { return is_stopping_; }

 private:
  std::shared_ptr<server_core> core_;
  std::atomic<bool> was_ready_{false};
  std::atomic<bool> is_stopping_{false};
};

/// Returns the metrics in the Prometheus text format 0.0.4, or in OpenMetrics 1.0 if `accept`, the values of Accept, prefers
/// it. They contain no caller, session or resource.
[[nodiscard]] plain_response metrics_page(std::string_view accept,
                                          const counters::registry& registry = counters::registry::global());

}  // namespace hondana::transport::http_server
