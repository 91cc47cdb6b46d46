/// What a time series is called: a metric's name and its labels.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/utf8.hpp"

namespace hondana::series {

/// A name and a value, both UTF-8. No label has an empty value: it is as if it were not there.
using label = std::pair<std::string, std::string>;

/// Spec: Prometheus data model. Labels are sorted by name, each name once; the metric's name is not among them.
struct identity {
  std::string name{};  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`; empty: what is derived has lost it, as in `rate`.
  std::vector<label> labels{};

  auto operator<=>(const identity&) const = default;
  bool operator==(const identity&) const = default;
  /// The value of that label; empty: it has none. `__name__` is the name.
  [[nodiscard]] std::string_view value_of(std::string_view label_name) const noexcept;
};

/// Sorts the labels, and drops those without a value. False for a name or a label name that cannot be (an empty name can), for
/// a label `__name__`, for a label that is there twice, and for a value that is no UTF-8.
[[nodiscard]] bool normalise(identity& of);
[[nodiscard]] bool is_metric_name(std::string_view text) noexcept;  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`
[[nodiscard]] bool is_label_name(std::string_view text) noexcept;   ///< `[a-zA-Z_][a-zA-Z0-9_]*`

using json::is_utf8;

/// `name{label="value",…}` as PromQL and the exposition format write it: `\`, `"` and line feeds of values are escaped.
[[nodiscard]] std::string to_text(const identity& of);
void append_text(std::string& out, const identity& of);

}  // namespace hondana::series
