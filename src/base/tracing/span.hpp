/// One thing that was done, as traces tell it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/tracing/context.hpp"

namespace hondana::tracing {

/// Numbers are those of OpenTelemetry.
enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 };

struct attribute {
  std::string_view name;  ///< Lives as long as the program.
  std::variant<std::string, std::int64_t> value;
};

struct span {
  context of{};
  std::optional<span_id> parent{};
  std::string state{};  ///< `tracestate`
  std::string name{};
  span_kind kind = span_kind::internal;
  std::chrono::system_clock::time_point begin{};
  std::chrono::nanoseconds took{};
  std::vector<attribute> attributes{};
  bool has_failed = false;
};

}  // namespace hondana::tracing
