/// Other ways to write a URI, which programs are likely to take for the same resource.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// The URI, how it is written canonically and with a host in small letters, and the resources of which these are parts: without
/// query and fragment, and without a slash at the end.
[[nodiscard]] std::vector<std::string> spellings_of(std::string_view uri);

/// A URI's path as a program reads it that unescapes before it looks for segments, and to which empty ones are none: nothing
/// when that is how it is written.
[[nodiscard]] std::optional<std::string> plain_reading(std::string_view uri);

/// Of one URI, what `spellings_inside` may look at and make: bytes, and other spellings.
inline constexpr std::size_t most_bytes_of_spellings = 64u << 10;
inline constexpr std::size_t most_spellings = 48;

/// A canonical URI with the URIs in its path, of mounted servers, in all other spellings and plain readings of them: empty for
/// most. Neither itself nor without its query and fragment. Nothing when there are too many to compare, as nobody writes
/// without intent.
///
/// `mounts`: what URIs of mounted servers stand behind, beside `mcp://NAME/`; there they need no slash. `spent` grows by the
/// bytes of URIs looked at and made.
[[nodiscard]] std::optional<std::vector<std::string>> spellings_inside(std::string_view uri,
                                                                       std::span<const std::string> mounts, std::size_t& spent);

}  // namespace hondana::uri
