/// Parses git configuration files, and decides which of their settings a repository may have.
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
  std::optional<std::string> value;  ///< Nothing where the key stands alone, which means "true".
  std::size_t line = 0;

  bool operator==(const setting&) const = default;
};

/// Where reading ended, and why; for sentences: "line 7: " + why.
struct misread {
  std::size_t line = 0;
  std::string why;
};

/// All settings of a file in its order, by the syntax of git-config(1), as git 2.39 reads it. What git would refuse is refused;
/// so are NUL bytes, and more settings than any repository needs. Cost: linear.
[[nodiscard]] tl::expected<std::vector<setting>, misread> read_settings(std::string_view bytes);

/// As git reads a truth value: words, numbers, a key alone. Nothing: it is none.
[[nodiscard]] std::optional<bool> truth_of(const setting& one);

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
