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

/// The folders of one repository, absolute and free of links, all beneath the roots.
struct place {
  std::string work_tree;                    ///< Empty: it is bare.
  std::string git_folder;                   ///< Of this work tree: HEAD and index.
  std::string common_folder;                ///< Objects, references and configuration; the same but in linked work trees.
  std::vector<std::string> object_folders;  ///< Where objects are, alternates included; the first is its own.

  bool operator==(const place&) const = default;
};

/// How much of a repository's own files is believed.
struct screening_limits {
  std::size_t config_bytes = std::size_t{1} << 20;
  std::size_t pointer_bytes = 4096;  ///< Of `.git` files, `commondir`, `gitdir`, `HEAD` and every reference.
  std::size_t alternates = 64;       ///< Folders, with those of alternates of alternates, five deep at most.
  std::uint64_t reference_list_bytes = std::uint64_t{256} << 20;  ///< Of `packed-refs`, and of `shallow`.
  std::uint64_t index_bytes = std::uint64_t{512} << 20;           ///< Read at once, too.
  std::uint64_t loose_object_bytes = std::uint64_t{2} << 30;      ///< Of each, compressed: it would be read at once.
  std::size_t entries = 2'000'000;  ///< Files and folders of references and objects that are looked through for links.
  /// Of all object folders: libgit2 keeps a descriptor open for each that it has read from. 0: `most_open_packs`.
  std::size_t packs = 0;
};

/// Finds the repository whose work tree, or whose bare folder, `path` is: nothing is looked for above or below it.
///
/// Every pointer (a `.git` file, `commondir`, `core.worktree`, alternates, links) is followed by the kernel beneath `roots`
/// only, its configuration is read by a bounded reader of ours, and its references and objects are looked through for links
/// and special files: a repository that wants more is refused, and nothing of it is opened by libgit2. Errors:
/// resource_not_found where there is no repository; access_denied for another owner's; unsupported for SHA-256 objects,
/// reftable references, and extensions that are not known, by name; invalid_argument for `include` and `includeIf`, for
/// pointers that lead outside, and for what cannot be read as git would. The text names the file below the repository, the line
/// and what to do.
[[nodiscard]] result<place> locate(const std::string& path, const std::vector<std::string>& roots,
                                   const screening_limits& limits = {});

/// Whether a folder has what the top of a work tree or a bare repository has; nothing of it is read, so that it may be none.
[[nodiscard]] bool looks_like_repository(const std::string& path) noexcept;

/// What discovery found: a repository, or why one is left out.
struct found_place {
  std::string path;  ///< Of the work tree, or the bare folder.
  result<place> what;
};

/// All repositories at and below `root`, whose pointers may lead beneath `roots`, in the order of their paths, without
/// following links, hidden folders left out (but for `.git`), at most `depth` folders deep, and no more than `most`. Not below
/// repositories' own git folders. Stops early when `is_wanted` says so.
[[nodiscard]] std::vector<found_place> discover(const std::string& root, std::vector<std::string> roots, std::size_t depth,
                                                std::size_t most, const std::function<bool()>& is_wanted);

/// A folder's name made `[a-z0-9-]`, at most 40 characters: "My Project.git" is "my-project"; what has nothing of that is
/// "repo".
[[nodiscard]] std::string slug_of(std::string_view folder_name);
/// Gives every path its slug: those that collide get "-2", "-3" in the order of `paths`.
[[nodiscard]] std::vector<std::string> slugs_of(const std::vector<std::string>& paths);

struct surveyed {
  place where;
  std::vector<setting> settings;  ///< Of its configuration, what libgit2 may know.
  std::string stamp;              ///< `stamp_of(where)`; empty when it cannot be relied on, since something has just changed.
  std::size_t packs = 0;          ///< Of all object folders.
};

/// What `locate` does, with all that it learns.
[[nodiscard]] result<surveyed> survey(const std::string& path, const std::vector<std::string>& roots,
                                      const screening_limits& limits = {});

/// The state of the files that screening rests on: configuration, pointers, and the folders that could become links. Another
/// stamp means that it must be screened again; so does an empty one, of files that changed at `since` (nanoseconds since 1970)
/// or so shortly before that a further change may not show. Cost: one `lstat` for each.
[[nodiscard]] std::string stamp_of(const place& at, std::int64_t since);
/// Without regard to how recent changes are.
[[nodiscard]] std::string stamp_of(const place& at);

}  // namespace hondana::git
