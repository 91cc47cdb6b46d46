/// Sanitizes texts of another server: limits them, removes control characters and masks secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/client_types.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::mcp {

inline constexpr std::size_t max_word_bytes = 256;        ///< Names of kinds and members, versions.
inline constexpr std::size_t max_line_bytes = 1024;       ///< Names and titles.
inline constexpr std::size_t max_text_bytes = 16u << 10;  ///< Descriptions.

/// The text for callers if a mounted server requires authentication.
inline constexpr std::string_view unauthorized_text = "it did not authorize this server; this server's log says what to do";

/// Limits a text to `max_bytes` bytes, cut between characters and with an ellipsis. Replaces invalid UTF-8. Control characters,
/// and those that change the text direction, become spaces. Line breaks and tabs stay with `keeps_lines`.
[[nodiscard]] std::string sanitize(std::string_view text, std::size_t max_bytes, bool keeps_lines = false);
/// The same for logs and messages, on one line. Secrets are masked before the text is cut.
[[nodiscard]] std::string sanitize_masked(std::string_view text, std::size_t max_bytes);
/// The same for names, titles and descriptions. With `masks`, secrets are masked as in contents.
[[nodiscard]] std::string sanitize_display(std::string_view text, std::size_t max_bytes, bool masks, bool keeps_lines = false);
/// A valid media type, or empty.
[[nodiscard]] std::string sanitize_media_type(std::string_view text);

/// Sanitizes all texts of an entry. An overlong URI is cut but stays overlong, so that it is rejected. An entry without a name
/// gets its URI as name. With `masks`, secrets are masked before texts are cut.
void sanitize_fields(resource& entry, bool masks);
void sanitize_fields(resource_template& entry, bool masks);
/// The front matter of a skill is passed on unchanged or not at all, so only its URIs are cut.
void sanitize_fields(skill& entry);
void sanitize_fields(complete_result& completion);

/// Converts the failure of a call to the other server for callers and the log. `name`: of the mount. `masks`: whether secrets
/// are masked for callers; they always are in the log.
[[nodiscard]] failure relay_failure(const failure& error, const std::string& name, bool masks);

}  // namespace hondana::mcp
