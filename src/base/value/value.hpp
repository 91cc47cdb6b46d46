/// Copies a parsed JSON value into one that owns itself.
#pragma once

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/json/reader.hpp"

namespace hondana::inline v0 {

/// A copy of a parsed value that owns itself. Errors: as `value::parse`, with the path below `from`.
[[nodiscard]] result<value> take_value(const json::value& from, const value::limits& most = {});

}  // namespace hondana::inline v0
