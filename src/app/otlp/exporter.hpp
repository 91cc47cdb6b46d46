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

/// An ExportTraceServiceRequest. Spec: OTLP 1.x, JSON Protobuf encoding: names in lowerCamelCase, ids in hexadecimal digits,
/// 64-bit numbers as text, enumerations as numbers.
[[nodiscard]] std::string encode(const std::vector<tracing::span>& spans, const resource& resource);
/// The number of spans that the collector rejected, and why, from an ExportTraceServiceResponse.
struct rejected_spans {
  std::uint64_t count = 0;
  std::string reason{};
};
/// Returns zero rejected spans if the response cannot be parsed.
[[nodiscard]] rejected_spans parse_rejected(std::string_view response);

/// Sends at most 512 spans per request. Retries with increasing pauses if the collector is busy or unreachable, up to five
/// attempts. After that, and when the collector rejects spans, they are dropped and counted. Destruction cancels the request in
/// progress.
class exporter {
 public:
  /// Errors: invalid_argument, which names the wrong option.
  [[nodiscard]] static result<std::unique_ptr<exporter>> start(tracing_options options);
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  [[nodiscard]] const std::shared_ptr<tracer>& span_queue() const noexcept { return span_queue_; }

 private:
  exporter(tracing_options options, std::shared_ptr<endpoint::endpoint> collector);
  void run(const std::stop_token& stop);
  void send(const std::vector<tracing::span>& spans, const std::stop_token& stop);
  /// Logs a problem once, and again when it is over. Empty: no problem.
  void log_problem(const std::string& error);

  const tracing_options options_;
  const resource resource_;
  const std::shared_ptr<endpoint::endpoint> collector_;
  const std::shared_ptr<tracer> span_queue_;
  std::string last_error_;  // used only by the thread
  std::jthread thread_;
};

/// What sending needs from a sandbox: the collector's address, and the files to read, such as the token. Errors: as
/// `exporter::start`.
[[nodiscard]] result<system_requirements> requirements_of(const tracing_options& options);

}  // namespace hondana::otlp
