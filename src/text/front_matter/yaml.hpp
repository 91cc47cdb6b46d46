/// Short YAML texts as JSON values.
#pragma once

#include <cstddef>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::front_matter {

/// The longest text, in bytes, that is parsed at all.
inline constexpr std::size_t longest_yaml = 64 * 1024;

/// Parses one YAML document by the core schema of YAML 1.2: of plain scalars only null, true, false and numbers are no strings;
/// dates and `yes` are strings as they stand. Keys are the text that was written. Anchors and aliases are resolved.
///
/// Errors: invalid_argument, "line 3: WHAT", for what is not well-formed, nested deeper than 32 levels, more than 128 KiB, and
/// for what JSON cannot say: keys that are no scalars or stand twice, infinities, unknown tags. Those 128 KiB are the bytes of
/// the JSON, aliases resolved and control characters escaped, with about 40 more for each value and key. The first line has the
/// number `first_line`. Threads: any. Source: yaml.org/spec/1.2.2, section 10.3.
[[nodiscard]] result<value> parse_yaml(std::string_view text, std::size_t first_line = 1);

}  // namespace hondana::front_matter
