/// Finds the folders of a repository, checks them before libgit2 opens any, and discovers repositories below a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/git_config.hpp"

namespace hondana::git {

/// The folders of one repository: absolute, free of links, and all below the roots.
struct repository_location {
  std::string work_tree;                    ///< Empty: it is bare.
  std::string git_folder;                   ///< HEAD and index of this work tree.
  std::string common_folder;                ///< Objects, references and configuration; differs in linked work trees.
  std::vector<std::string> object_folders;  ///< The folders of objects, including alternates; its own comes first.

  bool operator==(const repository_location&) const = default;
};

/// Limits for a repository's own files.
struct screening_limits {
  std::size_t config_bytes = std::size_t{1} << 20;
  std::size_t pointer_bytes = 4096;  ///< For `.git` files, `commondir`, `gitdir`, `HEAD` and every reference.
  std::size_t alternates = 64;       ///< Folders, including alternates of alternates, at most five levels.
  std::uint64_t reference_list_bytes = std::uint64_t{256} << 20;  ///< For `packed-refs` and `shallow`.
  std::uint64_t index_bytes = std::uint64_t{512} << 20;           ///< Also read at once.
  std::uint64_t loose_object_bytes = std::uint64_t{2} << 30;      ///< For each, compressed: it would be read at once.
  std::size_t entries = 2'000'000;  ///< Files and folders of references and objects that are checked for links.
  /// In all object folders, because libgit2 keeps a descriptor open for each pack that it has read. 0: `max_open_packs`.
  std::size_t packs = 0;
};

/// Finds the repository whose work tree or bare folder is `path`. Does not search above or below it.
///
/// The kernel follows every pointer (a `.git` file, `commondir`, `core.worktree`, alternates, links) below `roots` only. A
/// bounded reader of our own reads the configuration. References and objects are checked for links and special files. A
/// repository that does not pass is rejected, and libgit2 opens nothing of it.
/// Errors: resource_not_found if there is no repository; access_denied if another user owns it. unsupported for SHA-256
/// objects, reftable references, and unknown extensions, by name. invalid_argument for `include` and `includeIf`, for pointers
/// that lead outside, and for files that git rejects. The message names the file below the repository, the line, and a remedy.
[[nodiscard]] result<repository_location> locate(const std::string& path, const std::vector<std::string>& roots,
                                                 const screening_limits& limits = {});

/// Whether a folder looks like the top of a work tree, or like a bare repository. Its files are not read, so it need not be
/// one.
[[nodiscard]] bool looks_like_repository(const std::string& path) noexcept;

/// A result of discovery: a repository, or why it is left out.
struct discovered_repository {
  std::string path;  ///< Of the work tree or the bare folder.
  result<repository_location> location;
};

/// All repositories at and below `root`, whose pointers may lead below `roots`, sorted by path. Does not follow links. Skips
/// hidden folders, except for `.git`, and the git folders of repositories. Searches at most `max_depth` levels, and returns at
/// most `max_repositories` repositories. Stops early when `should_continue` returns false.
[[nodiscard]] std::vector<discovered_repository> discover(const std::string& root, std::vector<std::string> roots,
                                                          std::size_t max_depth, std::size_t max_repositories,
                                                          const std::function<bool()>& should_continue);

/// A folder's name reduced to `[a-z0-9-]`, at most 40 characters: "My Project.git" becomes "my-project". A name without such
/// characters becomes "repo".
[[nodiscard]] std::string slug_of(std::string_view folder_name);
/// The slugs of all paths. Those that collide get "-2", "-3" in the order of `paths`.
[[nodiscard]] std::vector<std::string> unique_slugs(const std::vector<std::string>& paths);

/// A repository that passed all checks.
struct screened_repository {
  repository_location location;
  std::vector<setting> settings;  ///< The part of its configuration that libgit2 may see.
  std::string stamp;              ///< `stamp_of(location)`; empty if it is unreliable, because a file has just changed.
  std::size_t pack_count = 0;     ///< In all object folders.
};

/// As `locate`, but returns everything it learned.
[[nodiscard]] result<screened_repository> screen_repository(const std::string& path, const std::vector<std::string>& roots,
                                                            const screening_limits& limits = {});

/// The state of the files that screening depends on: configuration, pointers, and folders that could become links. If the stamp
/// differs, the repository must be screened again. The same applies to an empty stamp. It means that a file changed at `start`
/// (nanoseconds since 1970), or so shortly before that a further change may not show. Cost: one `lstat` for each file.
[[nodiscard]] std::string stamp_of(const repository_location& location, std::int64_t start);
/// The same, however recent the changes are.
[[nodiscard]] std::string stamp_of(const repository_location& location);

}  // namespace hondana::git
