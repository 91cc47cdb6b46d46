/// Sanitizes texts of the mounted server: limits them, removes control characters and masks secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/capabilities.hpp>
#include <hondana/client_types.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::mcp {

inline constexpr std::size_t max_word_bytes = 256;        ///< Kinds, versions, media types, names of metadata fields.
inline constexpr std::size_t max_line_bytes = 1024;       ///< Names and titles.
inline constexpr std::size_t max_text_bytes = 16u << 10;  ///< Descriptions.

/// Completes "The mounted server NAME failed: " for callers if the mounted server requires authentication.
inline constexpr std::string_view unauthorized_text = "it did not authorize this server; this server's log says what to do";

/// Limits a text to `max_bytes` bytes: cuts it between characters and adds an ellipsis. Replaces invalid UTF-8. Control
/// characters, and those that change the text direction, become spaces. `keeps_lines`: keeps line feeds and tabs.
[[nodiscard]] std::string sanitize(std::string_view text, std::size_t max_bytes, bool keeps_lines = false);
/// Masks secrets by the policy for settings, and then calls `sanitize`. For logs and messages.
[[nodiscard]] std::string sanitize_masked(std::string_view text, std::size_t max_bytes);
/// If `masks`, masks secrets by the policy for texts. Then calls `sanitize`. For names, titles and descriptions.
[[nodiscard]] std::string sanitize_display(std::string_view text, std::size_t max_bytes, bool masks, bool keeps_lines = false);
/// Returns `text` if it can be a media type; otherwise empty.
[[nodiscard]] std::string sanitize_media_type(std::string_view text);

/// Sanitizes all fields of an entry. Cuts an overlong URI to `max_uri_bytes` + 1, so that later checks still reject it. An
/// entry without a name gets its URI as name. `masks`: masks secrets in the name, title and description.
void sanitize_fields(resource& entry, bool masks);
/// The same for a template.
void sanitize_fields(resource_template& entry, bool masks);
/// Sanitizes the URIs and digests of a skill. Leaves its front matter unchanged, because it must be passed on unchanged.
void sanitize_fields(skill& entry);
/// Removes values that `sanitize` would change, and all after the first hundred.
void sanitize_fields(complete_result& completion);

/// Converts the failure of a call to the mounted server for callers and the log. `name`: of the mount. `masks`: whether secrets
/// are masked in the public text; they always are in the private text.
[[nodiscard]] failure relay_failure(const failure& error, const std::string& name, bool masks);

}  // namespace hondana::mcp
