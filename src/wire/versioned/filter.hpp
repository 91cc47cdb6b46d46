/// Decodes the filter of a list.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "json/reader.hpp"
#include "model/filter.hpp"

namespace hondana::wire::versioned {

/// Errors name the member: one that is not known, of another type, empty, too long, or that means nothing.
[[nodiscard]] json::decoded<model::resource_filter> filter_of(const json::object& from);

/// A date (midnight UTC) or a date and time with its offset, as RFC 3339 writes them; what is finer than milliseconds is cut
/// off. Nothing for what is neither, or a day no calendar has.
[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_time(std::string_view text);

}  // namespace hondana::wire::versioned
