/// Parses short YAML texts to JSON values.
#pragma once

#include <cstddef>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::front_matter {

/// Limit of bytes of a text.
inline constexpr std::size_t max_yaml_bytes = 64 * 1024;

/// Parses one YAML document by the core schema of YAML 1.2; an empty one is null. Plain scalars are null, booleans or numbers
/// if the schema says so; all others, such as dates and `yes`, are strings. Keys are the original text. Anchors and aliases are
/// resolved. `first_line`: the number of the first line in errors. Threads: any. Source: yaml.org/spec/1.2.2, section 10.3.
///
/// Errors: invalid_argument, as "line 3: WHAT", for malformed text, several documents, more than 32 levels, more than 128 KiB,
/// and everything that JSON cannot represent. JSON has no keys that are not scalars or occur twice, no infinities, and no tags
/// beyond the core schema. The 128 KiB count the bytes as JSON, with aliases resolved and control characters escaped, plus
/// about 40 for each value and key.
[[nodiscard]] result<value> parse_yaml(std::string_view text, std::size_t first_line = 1);

}  // namespace hondana::front_matter
