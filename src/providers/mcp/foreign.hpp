/// What another server says, made fit to be passed on: bounded, and without control characters.
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

/// At most `most` bytes, cut between characters and then with an ellipsis. Ill-formed UTF-8 is replaced; control characters,
/// and those that turn the direction of what follows, become a space. Line breaks and tabs stay when `has_lines`.
[[nodiscard]] std::string clean(std::string_view text, std::size_t most, bool has_lines = false);
/// A media type, or nothing when it cannot be one.
[[nodiscard]] std::string clean_media_type(std::string_view text);

/// Makes all texts of an entry fit; its URI is only cut where it is too long to be one. An entry without a name is named by its
/// URI.
void make_fit(resource& entry);
void make_fit(resource_template& entry);
/// A skill's frontmatter is passed on as it is or not at all, so that nothing is done but for its URI.
void make_fit(skill& entry);
void make_fit(complete_result& values);

/// What a call of the other server failed with, as our peers and our log may be told. `name` is that of the mount.
[[nodiscard]] failure passed_on(failure why, const std::string& name);

}  // namespace hondana::mcp
