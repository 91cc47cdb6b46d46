/// Evaluates the condition of an address on the series of a metric, and writes the verdict as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/rendering.hpp"

namespace hondana::metrics {

struct judged {
  bool is_absence = false;  ///< It stands for all series together: 1 where none has a value.
  series::points of{};
  standing how{};
};

struct verdict {
  range_answer what{};
  std::vector<judged> all{};  ///< In the order of the series; the absence last.

  [[nodiscard]] bool holds() const noexcept;
  /// Of what has met it for longest.
  [[nodiscard]] std::optional<series::instant> since() const noexcept;
};

/// Asks for the values of `span` and judges each series at its end. For `absent`, steps at which the source knew of no target
/// (`up`) count as not known. Errors: of the source.
[[nodiscard]] result<verdict> judge(backend& from, const address& at, const series::range& span, const limits& most,
                                    const call& by);

/// The values alone. Errors: of the source.
[[nodiscard]] result<range_answer> ask(backend& from, const address& at, const series::range& span, const limits& most,
                                       const call& by);

/// Which series meet it, since when, and their points; how many others there are.
[[nodiscard]] std::string json_of(const told_range& of, const verdict& found);

}  // namespace hondana::metrics
