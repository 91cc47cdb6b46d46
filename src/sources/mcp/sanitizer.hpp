/// Sanitizes texts of another server: bounds them, removes control characters and masks secrets.
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

inline constexpr std::size_t longest_word = 256;        ///< Names of kinds and members, versions.
inline constexpr std::size_t longest_line = 1024;       ///< Names and titles.
inline constexpr std::size_t longest_text = 16u << 10;  ///< Descriptions.

/// What whoever asks hears of a mounted server that wants to know who this one is.
inline constexpr std::string_view refuses_us = "it did not authorize this server; this server's log says what to do";

/// At most `most` bytes, cut between characters and then with an ellipsis. Ill-formed UTF-8 is replaced; control characters,
/// and those that turn the direction of what follows, become a space. Line breaks and tabs stay when `has_lines`.
[[nodiscard]] std::string clean(std::string_view text, std::size_t most, bool has_lines = false);
/// The same for logs and messages, in one line and with secrets masked before anything is cut.
[[nodiscard]] std::string clean_masked(std::string_view text, std::size_t most);
/// The same for names, titles and descriptions, where secrets are masked as in contents if `masks`.
[[nodiscard]] std::string clean_shown(std::string_view text, std::size_t most, bool masks, bool has_lines = false);
/// A media type, or nothing when it cannot be one.
[[nodiscard]] std::string clean_media_type(std::string_view text);

/// Makes all texts of an entry fit; its URI is only cut where it is too long to be one. An entry without a name is named by its
/// URI. If `masks`, secrets are masked before anything is cut.
void make_fit(resource& entry, bool masks);
void make_fit(resource_template& entry, bool masks);
/// A skill's frontmatter is passed on whole or not at all, so that nothing is done but for its URIs.
void make_fit(skill& entry);
void make_fit(complete_result& values);

/// What a call of the other server failed with, as our peers and our log may be told. `name` is that of the mount, and `masks`
/// whether peers are told no secrets; the log never is.
[[nodiscard]] failure passed_on(const failure& why, const std::string& name, bool masks);

}  // namespace hondana::mcp
