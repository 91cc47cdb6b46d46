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
  std::string work_tree;      ///< Empty: the repository is bare.
  std::string git_folder;     ///< Contains HEAD and the index of this work tree.
  std::string common_folder;  ///< Contains references and configuration. Differs from `git_folder` in linked work trees.
  std::vector<std::string> object_folders;  ///< Contain the objects: first the repository's own folder, then alternates.

  bool operator==(const repository_location&) const = default;
};

/// Limits for the files of a repository, which libgit2 reads at once. A repository with larger files is rejected.
struct screening_limits {
  std::size_t config_bytes = std::size_t{1} << 20;                ///< Of each configuration, attribute and exclude file.
  std::size_t pointer_bytes = 4096;                               ///< Of `.git` files, `commondir`, `HEAD` and every reference.
  std::size_t alternates = 64;                                    ///< Number of folders, including alternates of alternates.
  std::uint64_t reference_list_bytes = std::uint64_t{256} << 20;  ///< Of `packed-refs` and `shallow`.
  std::uint64_t index_bytes = std::uint64_t{512} << 20;
  std::uint64_t loose_object_bytes = std::uint64_t{2} << 30;  ///< Of each loose object, compressed.
  std::size_t entries = 2'000'000;                            ///< Number of files and folders of references and objects.
  /// Number of packs in all object folders: libgit2 keeps a descriptor open for each pack that it has read. 0:
  /// `max_open_packs`.
  std::size_t packs = 0;
};

/// Finds the repository whose work tree or bare folder is `path`, and checks ("screens") all files that libgit2 would read.
/// Does not search above or below `path`.
///
/// Every pointer (a `.git` file, `commondir`, `core.worktree`, alternates, links) must lead below `roots`. References and
/// objects must be regular files. libgit2 opens nothing of a repository that is rejected.
///
/// Errors: resource_not_found if there is no repository; access_denied if another user owns it; unsupported, naming them, for
/// SHA-256 objects, reftable references and unknown extensions, also for too many files or packs; invalid_argument for
/// `include` and `includeIf`, for pointers that lead outside, and for files that git rejects; source_unavailable. The message
/// names the file below the repository, the line, and a remedy.
[[nodiscard]] result<repository_location> locate(const std::string& path, const std::vector<std::string>& roots,
                                                 const screening_limits& limits = {});

/// Whether a folder looks like the top of a work tree, or like a bare repository. Reads no files, so `locate` may reject it.
[[nodiscard]] bool looks_like_repository(const std::string& path) noexcept;

/// A repository that `discover` found, or a folder that it could not search.
struct discovered_repository {
  std::string path;  ///< Of the work tree or the bare repository.
  /// From `locate`. source_unavailable also for a folder that cannot be searched because of a disk error, or a lack of
  /// descriptors or memory.
  result<repository_location> location;
};

/// Finds all repositories at and below `root`, depth first and by name. Does not follow links. Skips folders whose names begin
/// with a dot, and the contents of bare repositories. Searches at most `max_depth` levels below `root`, until
/// `max_repositories` are found or `should_continue` returns false. `roots`: as for `locate`. `should_continue`: may be empty.
[[nodiscard]] std::vector<discovered_repository> discover(const std::string& root, std::vector<std::string> roots,
                                                          std::size_t max_depth, std::size_t max_repositories,
                                                          const std::function<bool()>& should_continue);

/// Makes a slug, the name of a repository in URIs: `[a-z0-9-]`, at most 40 characters. "My Project.git" becomes "my-project". A
/// name without such characters becomes "repo".
[[nodiscard]] std::string slug_of(std::string_view folder_name);
/// Makes a slug for each path, from its last folder other than `.git`. Equal slugs get "-2", "-3" in the order of `paths`.
[[nodiscard]] std::vector<std::string> unique_slugs(const std::vector<std::string>& paths);

/// A repository that passed all checks.
struct screened_repository {
  repository_location location;
  std::vector<setting> settings;  ///< `screened_config::allowed`.
  std::string stamp;              ///< `stamp_of` before the checks. Empty: a file had just changed.
  std::size_t pack_count = 0;     ///< Number of packs in all object folders.
};

/// Like `locate`, but also returns what `open_screened` needs.
[[nodiscard]] result<screened_repository> screen_repository(const std::string& path, const std::vector<std::string>& roots,
                                                            const screening_limits& limits = {});

/// Returns the state of the files that screening depends on: configuration, pointers, and folders that could become links. If
/// it differs from the stamp of the last screening, the repository must be screened again. Empty: a file changed at the time
/// `start` (nanoseconds since 1970) or so shortly before that the stamp may not show a further change. The repository must then
/// be screened again, too. Cost: one `lstat` for each file.
[[nodiscard]] std::string stamp_of(const repository_location& location, std::int64_t start);
/// Like the function above, but never empty.
[[nodiscard]] std::string stamp_of(const repository_location& location);

}  // namespace hondana::git
