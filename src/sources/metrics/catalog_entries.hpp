/// The resource entries, templates and scheme documentation of a metrics source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"

namespace hondana::metrics {

/// Documents the `metrics` scheme.
[[nodiscard]] scheme_documentation describe_scheme();
/// Makes the entry of a resource that is not a metric.
[[nodiscard]] resource make_entry(std::string_view source, resource_kind kind);
/// Makes the entry of a metric. `metric.metadata.help` must be masked.
[[nodiscard]] resource make_entry(std::string_view source, const metric_info& metric);
/// Makes the templates of a source. `has_query`: includes that of PromQL queries.
[[nodiscard]] std::vector<resource_template> make_templates(std::string_view source, bool has_query);

}  // namespace hondana::metrics
