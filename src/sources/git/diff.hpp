/// Changes between two trees or in a work tree, and their patches as git writes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// Maximum size of each file that views compare, also to find renames.
inline constexpr std::uint64_t max_compared_file_bytes = std::uint64_t{32} << 20;
/// Maximum lines of two files that views compare, together. At worst, this takes about a second and 50 MB.
inline constexpr std::size_t max_compared_lines = 200'000;

/// Selects files, and folders with their contents, by exact paths. No paths, or an empty one, select everything. A path that
/// ends in `/` selects only a folder. `paths` must outlive this object.
class path_filter {
 public:
  explicit path_filter(const std::vector<std::string>& paths) noexcept : paths_(paths) {}

  /// Whether a file, link or submodule at `path` is selected.
  [[nodiscard]] bool matches(std::string_view path) const noexcept {
    return is_any([&](std::string_view selected) { return path == selected || is_below(path, selected); });
  }
  /// Whether anything below the folder `path` may be selected.
  [[nodiscard]] bool may_match_below(std::string_view path) const noexcept {
    return is_any([&](std::string_view selected) {
      return path.empty() || path == selected || is_below(path, selected) || is_below(selected, path);
    });
  }
  /// Whether everything below the folder `path` is selected.
  [[nodiscard]] bool covers(std::string_view path) const noexcept {
    return is_any([&](std::string_view selected) {
      return path == (selected.ends_with('/') ? selected.substr(0, selected.size() - 1) : selected) || is_below(path, selected);
    });
  }

 private:
  /// Whether `path` is below the folder `folder`, which may end in a slash.
  static bool is_below(std::string_view path, std::string_view folder) noexcept {
    if (folder.ends_with('/')) folder.remove_suffix(1);
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  }
  template <class Test>
  bool is_any(Test&& test) const noexcept {
    return paths_.empty() || std::any_of(paths_.begin(), paths_.end(), [&](const std::string& selected) {
             return selected.empty() || test(std::string_view(selected));
           });
  }

  const std::vector<std::string>& paths_;
};

/// One side of a changed file.
struct diff_side {
  std::string path;              ///< Bytes as in the tree.
  git_oid id{};                  ///< Of the blob, or the commit of a submodule. All zero: unknown, or the side does not exist.
  std::uint32_t mode = 0;        ///< The mode in git. 0: the side does not exist.
  bool is_in_work_tree = false;  ///< The content is in the file of the work tree, not in an object.

  [[nodiscard]] bool exists() const noexcept { return mode != 0; }
};

/// A changed file. Both sides have a path, even if only one of them exists.
struct change {
  enum class kind : std::uint8_t {
    added,
    deleted,
    modified,     ///< The content or the executable bit differs.
    renamed,      ///< The path differs. The content may differ, too.
    type_changed  ///< A file, link or submodule became another of these.
  };
  kind status = kind::modified;
  diff_side old_side, new_side;
  unsigned similarity = 0;  ///< With `renamed`, in percent.
  // Set by `measure`.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};

struct compare_options {
  std::vector<std::string> paths{};  ///< As for `path_filter`.
  bool detects_renames = true;  ///< As git's `-M` does (50 %, inexact renames among as many files as diff.renameLimit allows).
  std::size_t max_changes = 100'000;
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;    ///< Larger files of the work tree are not read.
  std::uint64_t max_rename_bytes = std::uint64_t{512} << 20;  ///< Larger files count as renamed only if they are equal.
  /// Called periodically; true ends the comparison with the error cancelled. May be empty.
  std::function<bool()> is_stopped{};
};

/// Compares two trees. Null stands for an empty tree. Returns the changes in the order of git's diff-tree.
/// Errors: response_too_large above `max_changes` and other limits; cancelled; source_unavailable for objects that are missing
/// or corrupt.
[[nodiscard]] result<std::vector<change>> compare(git_repository* repo, git_tree* old_tree, git_tree* new_tree,
                                                  const compare_options& options = {});

/// The uncommitted changes of a work tree.
struct working_changes {
  std::vector<change> staged;           ///< From HEAD to the index, without files in conflict.
  std::vector<change> unstaged;         ///< From the index to the work tree; for files in conflict, from stage 2 ("ours").
  std::vector<std::string> conflicted;  ///< Paths of unresolved merge conflicts.
  /// Files that are neither tracked nor ignored, and folders that contain only such files. Folders end in a slash.
  std::vector<std::string> untracked;
  /// Paths to which the operating system denies access. They are in no other list. Folders end in a slash.
  std::vector<std::string> unreadable;
};
/// Compares a work tree with the index and HEAD. A file is unchanged if size, times and inode are those in the index. Otherwise
/// its bytes are compared in the form in which git would store them (`stored_form`). Without core.symlinks, a file with the
/// target of a link is unchanged. Reads files only below the work tree, never through links. A file above `max_file_bytes` that
/// may have changed has no id. A submodule has changed if another commit is checked out in it; its own files are not compared.
/// Untracked files are selected by .gitignore files and `info/exclude`. Writes nothing, not even the index. Errors, none of
/// which names a file: those of `compare`; unsupported for a bare repository; content_changed; source_unavailable for a work
/// tree that cannot be opened, files that cannot be read now, and an index that libgit2 cannot read.
[[nodiscard]] result<working_changes> compare_work_tree(git_repository* repo, const compare_options& options = {});

struct patch_options {
  std::size_t context = 3;                                  ///< Unchanged lines before and after each changed line.
  std::uint64_t max_bytes = std::uint64_t{64} << 20;        ///< Limit of the patch. Above it: response_too_large.
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;  ///< Larger files count as binary, as in git.
  /// Limit of each file that is compared, if it does not count as binary. Above it: response_too_large.
  std::uint64_t max_compared_bytes = std::uint64_t{512} << 20;
  std::size_t max_lines = 4'000'000;  ///< Limit of both files together. Above it: response_too_large.
  /// Overwrites secrets in the bytes of a file. Must not change length and line ends. Called before the comparison. May be
  /// empty.
  std::function<void(std::string_view path, std::string& bytes)> mask{};
  std::function<bool()> is_stopped{};  ///< Called periodically; true cancels. May be empty.
};

/// Appends the patch of one change as `git -c diff.indentHeuristic=false diff-tree -p --full-index -M --no-ext-diff` writes it
/// (Myers' algorithm, names quoted as core.quotePath does). After an error, `patch` is unchanged. Errors: response_too_large;
/// cancelled; source_unavailable for objects that are missing or corrupt.
[[nodiscard]] result<void> append_patch(std::string& patch, git_repository* repo, const change& change,
                                        const patch_options& options = {});

/// The result of `try_patch`.
struct patch_outcome {
  enum class kind : std::uint8_t {
    written,
    too_long,     ///< The patch would exceed `max_bytes`.
    not_compared  ///< A file exceeds `max_compared_bytes`, or both together exceed `max_lines`.
  };
  kind status = kind::written;
  bool is_measured = false;  ///< The members below are set, as by `measure`.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};
/// Like `append_patch`, but returns an outcome instead of the error response_too_large. Unless the outcome is `written`,
/// `patch` is unchanged.
[[nodiscard]] result<patch_outcome> try_patch(std::string& patch, git_repository* repo, const change& change,
                                              const patch_options& options = {});

/// Sets `is_binary`, `added_lines` and `deleted_lines` as `git diff --numstat` counts. Errors: as `append_patch`.
[[nodiscard]] result<void> measure(change& change, git_repository* repo, const patch_options& options = {});

/// A path as git writes it in patches: in quotes and with escapes if necessary.
[[nodiscard]] std::string quoted_path(std::string_view path);

}  // namespace hondana::git
