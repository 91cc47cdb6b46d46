/// An agent skill: its front matter, and the complete list of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Maximum number of files of one skill, including SKILL.md. Spec: the extension io.modelcontextprotocol/skills, #limits.
inline constexpr std::size_t max_skill_files = 512;
/// Maximum size of all files of one skill together, in bytes.
inline constexpr std::uint64_t max_skill_bytes = 16u << 20;

/// One file of a skill.
struct skill_file {
  std::string uri{};       ///< Canonical.
  std::string digest{};    ///< "sha256:" and the SHA-256 of the file, as 64 lower-case hexadecimal digits.
  std::uint64_t size = 0;  ///< Bytes.

  bool operator==(const skill_file&) const = default;
};

/// One entry of `skills/list`. Spec: the extension io.modelcontextprotocol/skills, #skill-entries.
struct skill {
  std::string uri{};    ///< Canonical URI of the skill's SKILL.md. The segment before SKILL.md is the skill's name.
  value frontmatter{};  ///< An object: all of the front matter of SKILL.md, with at least `name` and `description`.
  /// All files, each once, in segment order, including those of nested skills. nullopt: files are generated for each read and
  /// have no digests.
  std::optional<std::vector<skill_file>> files{};
};

}  // namespace hondana::inline v0
