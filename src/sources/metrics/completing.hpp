/// Values for the parameters of a metric.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/names.hpp"
#include "sources/metrics/secret_labels.hpp"

namespace hondana::metrics {

struct completing_source {
  std::string source{};
  backend& from;
  names& known;
  secret_labels& secrets;
  bool redact = true;
  /// Whether the caller may see a metric.
  std::function<bool(const std::string& name)> may_see{};
};

/// Names; inside `match` label names, and behind their relation the values that series have which the name and the matchers
/// before admit; aggregations that make sense of the metric; formats, steps, times. Nothing is offered behind a matcher of a
/// label that has secrets, nor are its values. Errors: of the source.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completing_source& from);

}  // namespace hondana::metrics
