/// The tables [audit] and [tracing]: the audit log and the export of traces.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/audit.hpp>
#include <hondana/error.hpp>
#include <hondana/tracing.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks `[audit]`, and makes the path absolute. Errors: invalid_argument, "FILE:LINE: audit.KEY: what was
/// expected".
[[nodiscard]] result<audit_file_options> read_audit(section table);

/// Reads and checks `[tracing]`, and makes the path of the token file absolute. Errors: invalid_argument, "FILE:LINE:
/// tracing.KEY: what was expected".
[[nodiscard]] result<tracing_options> read_tracing(section table);

/// Whether both are absent, or equal in the members that the configuration can set.
[[nodiscard]] bool is_equivalent(const std::optional<tracing_options>& left, const std::optional<tracing_options>& right);

/// The URL for POST requests with traces to a collector with the URL `base`. Appends `/v1/traces` to the path, unless the path
/// already ends with it.
[[nodiscard]] std::string traces_url(std::string base);

/// Reads the tracing options from the environment, as OpenTelemetry specifies, for a configuration without `[tracing]`. Returns
/// nothing if no endpoint is set, or traces are disabled. `get_variable`: returns the value of a variable; empty if it is not
/// set.
///
/// Reads OTEL_SDK_DISABLED, OTEL_SERVICE_NAME, OTEL_TRACES_EXPORTER, OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. Also
/// ENDPOINT, PROTOCOL and TIMEOUT, each after OTEL_EXPORTER_OTLP_TRACES_ or OTEL_EXPORTER_OTLP_.
/// Errors: invalid_argument, naming the variable, for a value that is not supported.
[[nodiscard]] result<std::optional<tracing_options>> read_tracing_environment(
    const std::function<std::string(const char* name)>& get_variable);

}  // namespace hondana::config
