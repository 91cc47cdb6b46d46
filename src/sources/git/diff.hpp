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

/// Bytes of either side; also of files that are compared to find renames.
inline constexpr std::uint64_t max_compared_file_bytes = std::uint64_t{32} << 20;
/// Lines of both sides together. So many random lines, the worst case, take about a second and 50 megabytes.
inline constexpr std::size_t max_compared_lines = 200'000;

/// Selects files and folders by their paths, bytewise and without patterns. No paths, or an empty one, select everything. A
/// path that ends in `/` selects a folder only. Lifetime: refers to `paths`.
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
  std::string path;  ///< Bytes as in the tree.
  git_oid id{};      ///< All zero: none.
  std::uint32_t mode = 0;
  bool is_in_work_tree = false;  ///< Its content is that of the file there, not of an object.

  [[nodiscard]] bool exists() const noexcept { return mode != 0; }
};

/// A changed file. Both sides have a path, even if only one of them exists.
struct change {
  enum class kind : std::uint8_t { added, deleted, modified, renamed, type_changed };
  kind status = kind::modified;
  diff_side old_side, new_side;
  unsigned similarity = 0;  ///< For a rename, in percent.
  /// Filled by `measure`.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};

struct compare_options {
  std::vector<std::string> paths{};  ///< Files and folders, literally; empty: all.
  bool detects_renames = true;       ///< As `-M` does (50 %, inexact ones among at most 1000 × 1000 files).
  std::size_t max_changes = 100'000;
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;    ///< For files of the work tree.
  std::uint64_t max_rename_bytes = std::uint64_t{512} << 20;  ///< Larger files are renamed only if they are equal.
  /// Called periodically; true ends the comparison with `cancelled`.
  std::function<bool()> is_stopped{};
};

/// Changes from one tree to another, in the order of git's diff-tree. Null: the empty tree.
/// Errors: response_too_large above `max_changes`; cancelled; those of missing or corrupt objects.
[[nodiscard]] result<std::vector<change>> compare(git_repository* repo, git_tree* old_tree, git_tree* new_tree,
                                                  const compare_options& options = {});

/// The uncommitted changes of a work tree.
struct working_changes {
  std::vector<change> staged;           ///< From HEAD's tree to the index, without files in conflict.
  std::vector<change> unstaged;         ///< From the index to the files; for files in conflict, from our side.
  std::vector<std::string> conflicted;  ///< Paths of unresolved merge conflicts.
  /// Files that are neither tracked nor ignored, and folders that contain only such files. Folders end in a slash.
  std::vector<std::string> untracked;
  /// Paths that the operating system does not allow to be read, which are in none of the lists above. Folders end in a slash.
  std::vector<std::string> unreadable;
};
/// Compares a work tree with the index and HEAD. A file is unchanged if the index has its size and times. Otherwise its bytes
/// on disk are compared, without filters and attributes. Files are read below the work tree only, never through links, and up
/// to `max_file_bytes` bytes each. A larger file that may have changed has no id. Submodules are not entered: one is unchanged
/// as long as its folder exists. The ignore files of the work tree and `info/exclude` apply. Nothing is written, not even the
/// index.
/// Errors, none of which names a file: those of `compare`; unsupported for a bare repository; content_changed.
/// source_unavailable for a work tree that cannot be opened, for files that cannot be read now, and for an index that libgit2
/// cannot read.
[[nodiscard]] result<working_changes> compare_work_tree(git_repository* repo, const compare_options& options = {});

struct patch_options {
  std::size_t context = 3;
  std::uint64_t max_bytes = std::uint64_t{64} << 20;        ///< Of the patch. A longer one is response_too_large.
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;  ///< Larger files count as binary, as in git.
  /// Of either side. A larger file that does not count as binary is not compared: response_too_large.
  std::uint64_t max_compared_bytes = std::uint64_t{512} << 20;
  std::size_t max_lines = 4'000'000;  ///< Of both sides together, because each line takes memory. More is response_too_large.
  /// Overwrites secrets in the bytes of a file, keeping its length and line ends. Called before files are compared.
  std::function<void(std::string_view path, std::string& bytes)> mask{};
  std::function<bool()> is_stopped{};
};

/// Appends the patch of one change as `git -c diff.indentHeuristic=false diff-tree -p --full-index -M --no-ext-diff` writes it
/// (Myers' algorithm, names quoted as core.quotePath does).
[[nodiscard]] result<void> append_patch(std::string& patch, git_repository* repo, const change& change,
                                        const patch_options& options = {});

/// The outcome of making one patch.
struct patch_outcome {
  enum class kind : std::uint8_t { written, too_long, not_compared };
  kind status = kind::written;  ///< `not_compared`: a side is too large, or both together have too many lines.
  bool is_measured = false;     ///< Only then the members below are set, as by `measure`.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};
/// As `append_patch`, but files that are too large are an outcome, not an error. Reports the counts that the comparison yields,
/// so that a second comparison is not needed.
[[nodiscard]] result<patch_outcome> try_patch(std::string& patch, git_repository* repo, const change& change,
                                              const patch_options& options = {});

/// Sets whether the change is binary, and how many lines were added and deleted, as `--numstat` counts.
[[nodiscard]] result<void> measure(change& change, git_repository* repo, const patch_options& options = {});

/// A path as written in patches: in quotes, with escapes, if it has bytes that need them.
[[nodiscard]] std::string quoted_path(std::string_view path);

}  // namespace hondana::git
