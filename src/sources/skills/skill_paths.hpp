/// Paths of skills as URIs, and the media types of their files by name.
#pragma once

#include <string>
#include <string_view>

namespace hondana::skills {

/// The file that makes a folder a skill.
inline constexpr std::string_view skill_file_name = "SKILL.md";

/// `skill://` and the path, whose names are separated by `/`: bytes that a URI's path cannot hold are percent-encoded, all
/// others stay as they are. Canonical when the first name is a slug.
[[nodiscard]] std::string uri_of(std::string_view path);

/// Whether a name can be the authority of our URIs: a-z, 0-9 and `-`.
[[nodiscard]] bool is_slug(std::string_view name) noexcept;

/// The last name of a path, and everything before its last `/` (empty when there is none).
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
/// Whether `path` lies below the folder `above`.
[[nodiscard]] bool lies_in(std::string_view path, std::string_view above) noexcept;

/// A media type by the name's ending; empty when it says nothing.
[[nodiscard]] std::string_view type_of(std::string_view name) noexcept;

}  // namespace hondana::skills
