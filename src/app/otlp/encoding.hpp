/// Spans as collectors take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tracing/span.hpp"

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

}  // namespace hondana::otlp
