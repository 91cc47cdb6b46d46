/// Arguments of tools that clients repeat in HTTP headers, from the input schema.
#pragma once

#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "protocol/model/operations.hpp"

namespace hondana::handlers {

/// Finds the arguments with an `x-mcp-header` declaration in an input schema. Errors: invalid_argument with the place and the
/// violated rule. Spec: 2026-07-28 server/tools#x-mcp-header.
[[nodiscard]] result<std::vector<model::mirrored_argument>> mirrored_arguments(const value& input_schema);

}  // namespace hondana::handlers
