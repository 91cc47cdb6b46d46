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

/// Who made the spans.
struct resource {
  std::string service_name{};
  std::string service_version{};
  std::string instance{};  ///< Unlike that of any other process.
};

/// An ExportTraceServiceRequest. Spec: OTLP 1.x, JSON Protobuf encoding: names in lowerCamelCase, ids in hexadecimal digits,
/// 64-bit numbers as text, enumerations as numbers.
[[nodiscard]] std::string encode(const std::vector<tracing::span>& spans, const resource& of);
/// How many spans the collector did not take, and why, as it says in an ExportTraceServiceResponse.
struct refused_spans {
  std::uint64_t count = 0;
  std::string why{};
};
/// What cannot be read says nothing.
[[nodiscard]] refused_spans refused_in(std::string_view response);

/// At most 512 spans a request. What a collector is too busy for is sent again, up to five times, later each time; then, and
/// when it refuses, those spans are dropped and counted. Destruction cancels the request under way.
class exporter {
 public:
  /// Errors: invalid_argument, naming what is wrong.
  [[nodiscard]] static result<std::unique_ptr<exporter>> start(tracing_options from);
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  [[nodiscard]] const std::shared_ptr<tracer>& spans() const noexcept { return spans_; }

 private:
  exporter(tracing_options from, std::shared_ptr<endpoint::endpoint> to);
  void run(const std::stop_token& stop);
  void send(const std::vector<tracing::span>& what, const std::stop_token& stop);
  /// Why it failed is said once until it works again.
  void note(const std::string& trouble);

  const tracing_options options_;
  const resource self_;
  const std::shared_ptr<endpoint::endpoint> to_;
  const std::shared_ptr<tracer> spans_;
  std::string trouble_;  // of the thread
  std::jthread thread_;
};

/// What sending needs: the collector's place, and the file with the token. Errors: as `exporter::start`.
[[nodiscard]] result<needs> needs_of(const tracing_options& from);

}  // namespace hondana::otlp
