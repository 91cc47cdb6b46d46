/// Copies a parsed JSON value into an owning `value`.
#pragma once

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/json/reader.hpp"

namespace hondana::inline v0 {

/// Copies a parsed value into one that owns its data. Errors: as `value::parse`, with the path below `source`.
[[nodiscard]] result<value> copy_value(const json::value& source, const value::parse_limits& limits = {});

}  // namespace hondana::inline v0
