/// The figures of the process, for Prometheus to read.
#pragma once

#include <string_view>

#include "base/counters/registry.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// In the text format 0.0.4, or in OpenMetrics 1.0 where `accept`, the field's value, names it with no lesser weight. Nothing
/// in it names a caller, a session or a resource.
[[nodiscard]] plain_answer metrics_page(std::string_view accept, const counters::registry& of = counters::registry::here());

}  // namespace hondana::transport::http_server
