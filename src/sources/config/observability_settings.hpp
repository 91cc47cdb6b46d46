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

/// Reads and checks the table; the path is made absolute. Errors: invalid_argument, "FILE:LINE: audit.KEY: what was expected".
[[nodiscard]] result<audit_file_options> read_audit(section from);

/// Reads and checks the table; the path of the token's file is made absolute. Errors: invalid_argument, "FILE:LINE:
/// tracing.KEY: what was expected".
[[nodiscard]] result<tracing_options> read_tracing(section from);

/// Whether they would have the same sent.
[[nodiscard]] bool says_the_same(const std::optional<tracing_options>& one, const std::optional<tracing_options>& other);

/// The URL that traces are POSTed to on a collector of this base URL: `/v1/traces` below it, unless it ends so already, before
/// its query.
[[nodiscard]] std::string traces_url(std::string base);

/// What the environment says, as OpenTelemetry's specification has it, where the configuration says nothing; nothing: no
/// traces. `variable`: its value, empty where it is not set. Heard: OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER,
/// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT,
/// OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG. Errors: invalid_argument,
/// naming the variable.
[[nodiscard]] result<std::optional<tracing_options>> tracing_by(const std::function<std::string(const char* name)>& variable);

}  // namespace hondana::config
