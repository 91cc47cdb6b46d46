/// The figures of the process, for Prometheus to read.
#pragma once

#include <string_view>

#include "figures/registry.hpp"
#include "transport/http/routes.hpp"

namespace hondana::transport::http {

/// In the text format 0.0.4, or in OpenMetrics 1.0 where `accept`, the field's value, names it with no lesser weight. Nothing
/// in it names a caller, a session or a resource.
[[nodiscard]] plain_answer metrics_page(std::string_view accept, const figures::registry& of = figures::registry::here());

}  // namespace hondana::transport::http
