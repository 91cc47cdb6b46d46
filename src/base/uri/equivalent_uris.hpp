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
[[nodiscard]] std::vector<std::string> equivalent_forms(std::string_view uri);

/// The URI with its path as a lenient program reads it: slashes, backslashes and dots unescaped, then empty and dot segments
/// removed.
/// Without query and fragment. Nothing when the URI is already written that way.
[[nodiscard]] std::optional<std::string> lenient_form(std::string_view uri);

/// Caps of `nested_equivalent_forms` for one URI: bytes examined and produced, and number of forms.
inline constexpr std::size_t max_nested_form_bytes = 64u << 10;
inline constexpr std::size_t max_nested_forms = 48;

/// The equivalent forms of a canonical URI of mounted servers, whose path contains other URIs.
/// Combines all equivalent and lenient forms of the inner URIs. Empty for most URIs. The result contains neither `uri` nor
/// `uri` without query and fragment. Nothing when there are more than the caps allow: only an attacker writes such URIs.
///
/// `mounts`: prefixes of mounted servers' URIs, in addition to `mcp://NAME/`. After such a prefix, an inner URI needs no slash
/// in its path. `bytes_spent` grows by the bytes examined and produced.
[[nodiscard]] std::optional<std::vector<std::string>> nested_equivalent_forms(std::string_view uri,
                                                                              std::span<const std::string> mounts,
                                                                              std::size_t& bytes_spent);

}  // namespace hondana::uri
