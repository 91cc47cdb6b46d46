/// Copies a parsed JSON value into an owning `value`.
#pragma once

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/json/reader.hpp"

namespace hondana::inline v0 {

/// Copies a parsed value into one that owns its data. Of `limits`, only `max_values` applies.
/// Errors: invalid_argument for too many values and for a repeated member, with its path below `source`.
[[nodiscard]] result<value> copy_value(const json::value& source, const value::parse_limits& limits = {});

}  // namespace hondana::inline v0
