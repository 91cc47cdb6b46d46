/// The source types that this program supports.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <hondana/provider.hpp>

#include "sources/config/section.hpp"

namespace hondana::cli {

/// Receives one line of the log, without a newline.
using log_function = std::function<void(std::string_view)>;

/// One type of `[[source]]`.
struct provider_type {
  std::string_view name;  ///< As in `type = "..."`.
  /// Creates a provider from its table: reads every key that it knows, and calls `section::finish`. Errors: invalid_argument
  /// for the table, source_unavailable for a folder, file or service that it refers to.
  result<std::shared_ptr<provider>> (*configure)(config::section& section, const log_function& log);
  /// Describes the URI scheme, without a provider.
  scheme_documentation (*describe_scheme)();
};

/// All types, in the order of providers.def.
[[nodiscard]] std::span<const provider_type> provider_types() noexcept;

}  // namespace hondana::cli
