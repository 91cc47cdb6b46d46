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

struct setting {
  std::string name;  ///< "core.bare", "remote.origin.url": section and key in lower case, the subsection as written.
  std::optional<std::string> value;  ///< Nothing if the key has no value, which means "true".
  std::size_t line = 0;

  bool operator==(const setting&) const = default;
};

/// Where and why parsing failed. For messages: "line 7: " + `reason`.
struct config_error {
  std::size_t line = 0;
  std::string reason;
};

/// All settings of a file in their order, by the syntax of git-config(1), as git 2.39 reads it. Rejects what git rejects, NUL
/// bytes, and more than 100 000 settings. Cost: linear.
[[nodiscard]] tl::expected<std::vector<setting>, config_error> parse_settings(std::string_view bytes);

/// A boolean as git reads it: words, numbers, or a key alone. Nothing for any other value.
[[nodiscard]] std::optional<bool> parse_bool(const setting& entry);

/// The settings that are used. All others are ignored, and libgit2 never sees them.
struct screened_config {
  std::optional<bool> is_bare;
  std::optional<std::string> work_tree;  ///< As written; relative to the git folder.
  bool has_work_tree_config = false;     ///< `config.worktree` applies, too (extensions.worktreeConfig).
  std::vector<setting> allowed;          ///< What libgit2 may see. None of it makes libgit2 run or open anything.
};

/// Screens the bytes of one configuration file; `file` is its name in messages. Pure.
/// Errors: invalid_argument for `include` and `includeIf`, and for syntax that git rejects, with the line. unsupported for
/// SHA-256 objects, reftable references, unknown extensions and format versions, by name.
[[nodiscard]] result<screened_config> screen_config(std::string_view bytes, std::string_view file);

}  // namespace hondana::git
