/// Alternative spellings of a URI that programs are likely to treat as the same resource.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// Returns `uri`, its canonical form, and the canonical form with a lower-case host. An invalid URI has only the first form.
/// Also returns each form without query and fragment, and each of these forms without a trailing slash.
[[nodiscard]] std::vector<std::string> equivalent_forms(std::string_view uri);

/// Returns `uri` without query and fragment, and with its path as a lenient program reads it.
/// Such a program unescapes slashes, backslashes and dots, treats backslashes as slashes, and removes empty and dot segments.
/// Returns nullopt if the path is already written that way, or `uri` has no scheme.
[[nodiscard]] std::optional<std::string> lenient_form(std::string_view uri);

/// The maximum number of bytes that one call of `nested_equivalent_forms` examines and produces.
inline constexpr std::size_t max_nested_form_bytes = 64u << 10;
/// The maximum number of forms that `nested_equivalent_forms` considers, including `uri`.
inline constexpr std::size_t max_nested_forms = 48;

/// Returns other spellings of a mounted server's URI, which has the URI of the other server in its path:
/// `mcp://NAME/https://host/a`. The nested URI can contain a further one. The result has all combinations of the equivalent
/// and lenient forms of the nested URIs.
///
/// Returns an empty list if `uri`, which must be canonical, contains no other URI. Most do not.
/// Returns nullopt if `uri` contains more than four URIs, or the forms exceed the limits above. Callers must then deny access,
/// or require the scopes of every rule.
/// The result never contains `uri`, with or without its query and fragment.
///
/// `mounts`: URI prefixes of mounted servers. After such a prefix, or `mcp://NAME/`, each text with a scheme is a nested URI.
/// After other slashes, the path of a nested URI must start with a slash.
/// `bytes_spent`: the function adds the bytes that it examined and produced.
[[nodiscard]] std::optional<std::vector<std::string>> nested_equivalent_forms(std::string_view uri,
                                                                              std::span<const std::string> mounts,
                                                                              std::size_t& bytes_spent);

}  // namespace hondana::uri
