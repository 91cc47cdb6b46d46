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

/// Reads and checks the table, and makes the path absolute. Errors: invalid_argument, "FILE:LINE: audit.KEY: what was
/// expected".
[[nodiscard]] result<audit_file_options> read_audit(section table);

/// Reads and checks the table, and makes the path of the token file absolute. Errors: invalid_argument, "FILE:LINE:
/// tracing.KEY: what was expected".
[[nodiscard]] result<tracing_options> read_tracing(section table);

/// Whether both export the same traces to the same place.
[[nodiscard]] bool is_equivalent(const std::optional<tracing_options>& left, const std::optional<tracing_options>& right);

/// The URL for POSTing traces to a collector with this base URL: appends `/v1/traces`, before the query, unless the URL already
/// ends with it.
[[nodiscard]] std::string traces_url(std::string base);

/// Reads the tracing options from the environment, as OpenTelemetry specifies. Used if the configuration has none. Empty: no
/// traces. `get_variable`: returns the value of a variable; empty if it is not set.
/// Read: OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT,
/// OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER,
/// OTEL_TRACES_SAMPLER_ARG.
/// Errors: invalid_argument, naming the variable.
[[nodiscard]] result<std::optional<tracing_options>> read_tracing_environment(
    const std::function<std::string(const char* name)>& get_variable);

}  // namespace hondana::config
