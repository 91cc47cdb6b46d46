/// Compares messages with what a transcript expects.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <tl/expected.hpp>

namespace transcripts {

/// What `"$name"` stands for: bound where it is first expected.
using bindings = std::map<std::string, boost::json::value>;

/// Reads one JSON text. Errors: what is wrong with it.
[[nodiscard]] tl::expected<boost::json::value, std::string> read_json(std::string_view text);

/// The path of the first difference and what differs, or nothing when `got` is as expected.
///
/// In `expected`, `"*"` stands for anything and `"$name"` for a value that is the same everywhere. Numbers are compared by
/// value, members in any order, elements in order. `known` gains names only when all matches.
[[nodiscard]] std::optional<std::string> difference(const boost::json::value& expected, const boost::json::value& got,
                                                    bindings& known);

/// Replaces strings that are bound names.
[[nodiscard]] boost::json::value substitute(const boost::json::value& in, const bindings& known);

}  // namespace transcripts
