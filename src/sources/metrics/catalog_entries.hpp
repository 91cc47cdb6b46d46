/// The resource entries, templates and scheme documentation of a metrics source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"

namespace hondana::metrics {

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe();
/// The entry of a resource that is not a metric.
[[nodiscard]] resource entry_of(std::string_view source, place of);
/// The entry of a metric. The caller has masked `of.help`.
[[nodiscard]] resource entry_of(std::string_view source, const metric& of);
[[nodiscard]] std::vector<resource_template> templates_of(std::string_view source, bool has_query);

}  // namespace hondana::metrics
