/// Status of the server over HTTP: health, readiness and metrics.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/counters/metrics.hpp"
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

/// In the text format 0.0.4, or in OpenMetrics 1.0 where `accept`, the field's value, names it with no lesser weight. Nothing
/// in it names a caller, a session or a resource.
[[nodiscard]] plain_answer metrics_page(std::string_view accept, const counters::registry& of = counters::registry::here());

}  // namespace hondana::transport::http_server
