/// Alternative spellings of a URI that programs are likely to treat as the same resource.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// Returns `uri`, its canonical form, and the canonical form with a lower-case host.
/// Each is also included without query and fragment, and without a trailing slash.
[[nodiscard]] std::vector<std::string> spellings_of(std::string_view uri);

/// The URI with its path as a lenient program reads it: slashes, backslashes and dots unescaped, then empty and dot segments
/// removed.
/// Without query and fragment. Nothing when the URI is already written that way.
[[nodiscard]] std::optional<std::string> plain_reading(std::string_view uri);

/// Caps of `spellings_inside` for one URI: bytes examined and produced, and number of spellings.
inline constexpr std::size_t most_bytes_of_spellings = 64u << 10;
inline constexpr std::size_t most_spellings = 48;

/// The alternative spellings of a canonical URI of mounted servers, whose path contains other URIs.
/// Combines all spellings and lenient readings of the inner URIs. Empty for most URIs. The result contains neither `uri` nor
/// `uri` without query and fragment. Nothing when there are more than the caps allow: only an attacker writes such URIs.
///
/// `mounts`: prefixes of mounted servers' URIs, in addition to `mcp://NAME/`. After such a prefix, an inner URI needs no slash
/// in its path. `spent` grows by the bytes examined and produced.
[[nodiscard]] std::optional<std::vector<std::string>> spellings_inside(std::string_view uri,
                                                                       std::span<const std::string> mounts, std::size_t& spent);

}  // namespace hondana::uri
