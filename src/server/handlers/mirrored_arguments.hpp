/// Arguments of tools that are repeated in HTTP headers, found in the input schema.
#pragma once

#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "protocol/model/operations.hpp"

namespace hondana::handlers {

/// The `x-mcp-header` declarations of an input schema. Errors: invalid_argument, naming the place and the broken rule.
/// Spec: 2026-07-28 server/tools#x-mcp-header.
[[nodiscard]] result<std::vector<model::mirrored_argument>> mirrored_arguments(const value& input_schema);

}  // namespace hondana::handlers
