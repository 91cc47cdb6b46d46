/// An agent skill: its front matter, and the complete list of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Limits of one skill: its files, including SKILL.md, and their bytes in total.
/// Spec: the extension io.modelcontextprotocol/skills, #limits.
inline constexpr std::size_t max_skill_files = 512;
inline constexpr std::uint64_t max_skill_bytes = 16u << 20;

/// One file of a skill.
struct skill_file {
  std::string uri{};       ///< Canonical.
  std::string digest{};    ///< "sha256:" and the SHA-256 of the file's bytes, as 64 lower-case hexadecimal digits.
  std::uint64_t size = 0;  ///< Bytes.

  bool operator==(const skill_file&) const = default;
};

/// One entry of `skills/list`. Spec: the extension io.modelcontextprotocol/skills, #skill-entries.
struct skill {
  std::string uri{};    ///< Canonical URI of its SKILL.md. The segment before SKILL.md is the skill's name.
  value frontmatter{};  ///< An object: all of the front matter of SKILL.md, with at least `name` and `description`.
  /// All files, each once, in segment order, including those of nested skills. nullopt: the content is generated for each read,
  /// so there are no digests.
  std::optional<std::vector<skill_file>> files{};
};

}  // namespace hondana::inline v0
