/// Traces of MCP requests, exported to an OpenTelemetry collector (docs/observability.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// Which MCP requests are traced, and where their spans are exported. Spec: OTLP 1.x, OTLP/HTTP with JSON.
struct tracing_options {
  std::string url{};                                           ///< The collector: `http://localhost:4318/v1/traces`.
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Header fields of each export.
  std::optional<std::string> bearer_file{};                    ///< A file with a token, read for each export.
  /// The share of MCP requests without a `trace_context` that is traced: 0 to 1. In a `trace_context`, the client says whether
  /// to trace.
  double sample_ratio = 1;
  std::chrono::milliseconds timeout{10'000};  ///< For one export.
  std::string service_name = "hondana";
  std::string service_version{};
  std::size_t max_queued_spans = 4096;               ///< Spans that may wait for an export. Further ones are dropped.
  std::chrono::milliseconds export_interval{5'000};  ///< Time between two exports, while fewer than 512 spans wait.
  /// Receives one line when exports begin to fail, and when they succeed again; may be empty. Threads: the exporting thread.
  std::function<void(std::string_view)> log{};
};

/// Makes spans for MCP requests, and exports them.
class tracer;

/// Makes a tracer that exports spans on a thread of its own. Destroying the tracer drops spans that wait. Errors:
/// invalid_argument for an invalid option.
[[nodiscard]] result<std::shared_ptr<tracer>> make_tracer(tracing_options options);
/// Exports the waiting spans now. Blocks until that is done, but not after `deadline`. Returns true if none wait. Threads: any.
bool flush_traces(tracer& tracer, std::chrono::steady_clock::time_point deadline);

}  // namespace hondana::inline v0
