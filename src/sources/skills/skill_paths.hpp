/// Paths of skills as URIs, and the media types of their files by name.
#pragma once

#include <string>
#include <string_view>

namespace hondana::skills {

/// The file that makes a folder a skill.
inline constexpr std::string_view skill_file_name = "SKILL.md";

/// `skill://` and the path, in which bytes that a URI path must not contain are percent-encoded. Canonical if the first name is
/// a slug.
[[nodiscard]] std::string uri_of(std::string_view path);

/// Whether a name consists of a-z, 0-9 and `-`, and so can be the authority of a skill URI. False for an empty name.
[[nodiscard]] bool is_slug(std::string_view name) noexcept;

/// The last name of a path.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
/// Everything before the last `/` of a path; empty if there is none.
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
/// Whether `path` is below `folder` at any depth. False if they are equal, or `folder` is empty.
[[nodiscard]] bool is_below(std::string_view path, std::string_view folder) noexcept;

/// The media type by file name extension; empty if unknown.
[[nodiscard]] std::string_view type_of(std::string_view name) noexcept;

}  // namespace hondana::skills
