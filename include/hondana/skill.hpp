/// What an agent skill is to a client: its frontmatter and a complete list of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// The most files a skill may have, its SKILL.md included, and the most bytes all of them together.
/// Spec: the extension io.modelcontextprotocol/skills, #limits.
inline constexpr std::size_t max_skill_files = 512;
inline constexpr std::uint64_t max_skill_bytes = 16u << 20;

/// One file of a skill.
struct skill_file {
  std::string uri{};       ///< Canonical.
  std::string digest{};    ///< "sha256:" and the SHA-256 of the file's bytes as 64 lower-case hexadecimal digits.
  std::uint64_t size = 0;  ///< Bytes.

  bool operator==(const skill_file&) const = default;
};

/// One entry of `skills/list`. Spec: the extension io.modelcontextprotocol/skills, #skill-entries.
struct skill {
  std::string uri{};    ///< Canonical, of its SKILL.md; the segment before that is the skill's name.
  value frontmatter{};  ///< An object: everything in the SKILL.md's frontmatter, with at least `name` and `description`.
  /// Every file, each once, in segment order, those of skills nested in it included. Absent: the content is made afresh for
  /// each read, so that no digests can be given.
  std::optional<std::vector<skill_file>> files{};
};

}  // namespace hondana::inline v0
