/// The front matter of a SKILL.md, and the Agent Skills rules about it.
#pragma once

#include <cstddef>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::front_matter {

/// Size of the front part of a file that suffices to find its front matter, or to know that it has none.
inline constexpr std::size_t front_matter_prefix_bytes = 64 * 1024 + 64;

/// Parses the front matter of a file: the lines between a first line `---` and the next such line, as an object. `front`: the
/// front part of the file. Errors: invalid_argument; the text says what is wrong, and in which line of the file. Spec: the
/// extension io.modelcontextprotocol/skills, #frontmatter.
[[nodiscard]] result<value> parse_frontmatter(std::string_view front);

/// Whether a name has 1 to 64 characters a-z, 0-9 and `-`, without `-` at an end or twice in a row.
/// Source: agentskills.io/specification#name-field.
[[nodiscard]] bool is_skill_name(std::string_view name) noexcept;

/// Checks the members `name`, which must be a skill name and equal `folder_name`, and `description` (1 to 1024 characters).
/// Other members are not checked. Errors: invalid_argument; the text says what to change.
[[nodiscard]] result<void> check_frontmatter(const value& frontmatter, std::string_view folder_name);

}  // namespace hondana::front_matter
