/// What a repository's configuration may ask for, decided from its bytes alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/settings.hpp"

namespace hondana::git {

/// What is taken from a configuration; all else in it is ignored, and never seen by libgit2.
struct screened_config {
  std::optional<bool> is_bare;
  std::optional<std::string> work_tree;  ///< As written: to be followed from the git folder.
  bool has_work_tree_config = false;     ///< `config.worktree` counts, too (extensions.worktreeConfig).
  std::vector<setting> kept;             ///< What libgit2 may know: it can neither run nor open anything by it.
};

/// Decides about the bytes of one configuration file; `file` is its name in texts. Pure. Errors: invalid_argument for
/// `include` and `includeIf` and for what git could not read, with the line; unsupported for SHA-256 objects, reftable
/// references, unknown extensions and format versions, by name.
[[nodiscard]] result<screened_config> screen_config(std::string_view bytes, std::string_view file);

}  // namespace hondana::git
