/// What is looked for in something by its name.
#pragma once

#include <string_view>

#include "text/secrets/scanner.hpp"

namespace hondana::secrets {

/// By the last segment of a path or a URI: in configuration, environments and logs, and in copies of them, more than elsewhere.
[[nodiscard]] policy policy_of(std::string_view path) noexcept;

/// The same of a URI, whose query and fragment say nothing about that.
[[nodiscard]] policy policy_of_uri(std::string_view uri) noexcept;

}  // namespace hondana::secrets
