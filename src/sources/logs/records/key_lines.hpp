/// Private keys whose lines are records of their own.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/secrets/scanner.hpp"

namespace hondana::records {

/// A key's first line, as what could stand before a text that nobody has seen: what stands around it is not known.
inline constexpr std::string_view begun_key = "-----BEGIN PRIVATE KEY-----*\n";

/// Adds the lines of private keys that stand in lines of JSON, of logfmt or behind headers, each with other text around it: the
/// base64 alone, between the same bytes as the first line's dashes, so that times and names stay. What is masked is decided by
/// what stands from the key's first line on, at most `reach_ahead` bytes, so it is the same in a part with `margin` bytes
/// around it. `into` is in order and apart afterwards. Linear time.
void find_key_lines(std::string_view text, std::vector<secrets::span>& into);

}  // namespace hondana::records
