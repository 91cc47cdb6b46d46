/// Parses git configuration files, and decides which of their settings are used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/error.hpp>

namespace hondana::git {

/// One setting of a git configuration file.
struct setting {
  std::string name;  ///< "core.bare", "remote.origin.url": section and key in lower case, the subsection as written.
  std::optional<std::string> value;  ///< nullopt: the key has no value, which means "true".
  std::size_t line = 0;              ///< From 1.

  bool operator==(const setting&) const = default;
};

/// Where and why parsing failed. For messages: "line 7: " + `reason`.
struct config_error {
  std::size_t line = 0;
  std::string reason;
};

/// Parses a file in the syntax of git-config(1), as git 2.39 reads it. Returns all settings in their order. Rejects what git
/// rejects, NUL bytes, and more than 100 000 settings. Cost: linear.
[[nodiscard]] tl::expected<std::vector<setting>, config_error> parse_settings(std::string_view bytes);

/// Parses a boolean as git does: true, yes, on, false, no, off, a number, or no value. nullopt: not a boolean.
[[nodiscard]] std::optional<bool> parse_bool(const setting& entry);

/// The result of `screen_config`. Settings that are not in it have no effect.
struct screened_config {
  std::optional<bool> is_bare;           ///< core.bare.
  std::optional<std::string> work_tree;  ///< core.worktree as written: absolute, or relative to the git folder.
  bool has_work_tree_config = false;     ///< The file `config.worktree` applies, too (extensions.worktreeConfig).
  std::vector<setting> allowed;          ///< The settings for libgit2. None of them makes libgit2 run or open anything.
};

/// Selects the settings of a configuration file that are safe to use. `file`: its name, for errors.
/// Errors: invalid_argument, naming the line, for `include`, `includeIf`, wrong values, and syntax that git rejects;
/// unsupported, naming them, for SHA-256 objects, reftable references, unknown extensions and format versions.
[[nodiscard]] result<screened_config> screen_config(std::string_view bytes, std::string_view file);

}  // namespace hondana::git
