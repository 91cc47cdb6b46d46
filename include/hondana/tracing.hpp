/// Traces of requests, exported by the OpenTelemetry protocol (docs/observability.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// Where spans are sent, and how many. Spec: OTLP 1.x, OTLP/HTTP with JSON.
struct tracing_options {
  std::string url{};                                           ///< URL for POST requests: `http://localhost:4318/v1/traces`.
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Header fields of each request.
  std::string bearer_file{};                                   ///< A file with a token, read for each request. Empty: none.
  /// The share of requests that is traced among those without a trace of the caller: 0 to 1. For the others, the caller
  /// decides.
  double sample_ratio = 1;
  std::chrono::milliseconds timeout{10'000};  ///< For one request.
  std::string service_name = "hondana";
  std::string service_version{};
  std::size_t max_queued_spans = 4096;               ///< Spans that may wait to be sent. Further ones are dropped and counted.
  std::chrono::milliseconds export_interval{5'000};  ///< Between two requests, while fewer than 512 spans wait.
  /// Receives one line when the collector becomes unreachable, and when it is reachable again.
  std::function<void(std::string_view)> log{};
};

/// Makes spans for requests, and exports them.
class tracer;

/// Makes a tracer that exports spans on a thread of its own. Its destructor drops spans that have not been sent. Errors:
/// invalid_argument, naming the wrong option.
[[nodiscard]] result<std::shared_ptr<tracer>> make_tracer(tracing_options options);
/// Sends the waiting spans until `deadline`. Returns true if none are left. Threads: any; blocks.
bool flush_traces(tracer& tracer, std::chrono::steady_clock::time_point deadline);

}  // namespace hondana::inline v0
