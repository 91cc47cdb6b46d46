/// Decodes the filter of a list.
#pragma once

#include "base/json/reader.hpp"
#include "protocol/model/filter.hpp"
#include "protocol/model/times.hpp"

namespace hondana::wire::versioned {

/// Errors name the member: one that is not known, of another type, empty, too long, or that means nothing.
[[nodiscard]] json::decoded<model::resource_filter> filter_of(const json::object& from);

using model::parse_time;

}  // namespace hondana::wire::versioned
