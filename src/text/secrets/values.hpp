/// Masks the secrets of JSON values.
#pragma once

#include <hondana/value.hpp>

#include "text/secrets/scanner.hpp"

namespace hondana::secrets {

/// The same value with the secrets in its texts and in the names of its members masked, each by itself and, by the policy for
/// settings, by the member that it stands in. What is no text stays as it is.
[[nodiscard]] value redact_value(const value& what, policy how);

}  // namespace hondana::secrets
