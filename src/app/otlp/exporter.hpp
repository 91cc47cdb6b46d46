/// Exports finished spans to an OpenTelemetry collector.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/tracing.hpp>

#include "base/tracing/tracing.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::otlp {

/// The process that created the spans.
struct resource {
  std::string service_name{};
  std::string service_version{};
  std::string instance{};  ///< Unique to each process.
};

/// Encodes an ExportTraceServiceRequest. Spec: OTLP 1.x, JSON Protobuf encoding: names in lowerCamelCase, ids in hexadecimal
/// digits, 64-bit numbers as text, enumerations as numbers.
[[nodiscard]] std::string encode(const std::vector<tracing::span>& spans, const resource& resource);
/// How many spans the collector rejected, and why.
struct rejected_spans {
  std::uint64_t count = 0;
  std::string reason{};
};
/// Reads an ExportTraceServiceResponse. Returns zero rejected spans if it cannot be parsed.
[[nodiscard]] rejected_spans parse_rejected(std::string_view response);

/// Sends finished spans on a thread of its own, at most 512 per request. If the collector is busy or unreachable, tries up to
/// five times, with increasing pauses. After that, or if the collector rejects spans or requests a pause of more than 30 s,
/// drops and counts them. Destruction cancels the request in progress.
class exporter {
 public:
  /// Starts the thread. Errors: invalid_argument, which names the wrong option.
  [[nodiscard]] static result<std::unique_ptr<exporter>> start(tracing_options options);
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  /// Spans that are added here are sent.
  [[nodiscard]] const std::shared_ptr<tracer>& span_queue() const noexcept { return span_queue_; }

 private:
  exporter(tracing_options options, std::shared_ptr<endpoint::endpoint> collector);
  void run(const std::stop_token& stop);
  void send(const std::vector<tracing::span>& spans, const std::stop_token& stop);
  /// Logs a problem once, and once when it is over. `error`: empty if there is none.
  void log_problem(const std::string& error);

  const tracing_options options_;
  const resource resource_;
  const std::shared_ptr<endpoint::endpoint> collector_;
  const std::shared_ptr<tracer> span_queue_;
  std::string last_error_;  // used only by the thread; empty: none
  std::jthread thread_;
};

/// What sending needs from the system: the collector's address, and files to read, such as the token. Errors: as
/// `exporter::start`.
[[nodiscard]] result<system_requirements> requirements_of(const tracing_options& options);

}  // namespace hondana::otlp
