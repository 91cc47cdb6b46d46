/// Traces of what a server does, sent to a collector by OpenTelemetry's protocol (docs/observability.md).
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

/// Where spans go, and how many. Spec: OTLP 1.x, OTLP/HTTP with JSON.
struct tracing_options {
  std::string url{};                                           ///< What is POSTed to: `http://localhost:4318/v1/traces`.
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Of each request.
  std::string bearer_file{};                                   ///< A file with a token, read each time; empty: none.
  /// Of the requests that come without a trace, this part is traced: 0 to 1. The others are traced when whoever asks does.
  double sample = 1;
  std::chrono::milliseconds timeout{10'000};  ///< Of one request.
  std::string service_name = "hondana";
  std::string service_version{};
  std::size_t most_waiting = 4096;         ///< Spans that wait to be sent; beyond it they are dropped, and counted.
  std::chrono::milliseconds pause{5'000};  ///< Between two requests, while there are less than 512 spans to send.
  std::function<void(std::string_view)>
      log{};  ///< Receives one line when the collector cannot be reached, and when it can again.
};

/// Makes spans of requests and hands them to whoever sends them. Null in `server_options`: nothing is traced.
class tracer;

/// One that sends them from a thread of its own; destruction drops what has not been sent. Errors: invalid_argument, naming the
/// option that is wrong.
[[nodiscard]] result<std::shared_ptr<tracer>> export_traces(tracing_options from);
/// Sends what there is now, or as much of it as can be sent before `until`: true when nothing is left. Threads: any; blocks.
bool flush_traces(tracer& of, std::chrono::steady_clock::time_point until);

}  // namespace hondana::inline v0
