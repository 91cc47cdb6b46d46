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

/// Of either side, in bytes; also of files that are compared to find renames.
inline constexpr std::uint64_t largest_compared_file = std::uint64_t{32} << 20;
/// Of both sides together. So many lines drawn at random, the worst there is, take about a second and 50 megabytes.
inline constexpr std::size_t most_compared_lines = 200'000;

/// Files and folders by their names, bytewise and without patterns; none, or an empty one, stands for everything. One that ends
/// in `/` means a folder only. Lifetime: refers to `paths`.
class path_filter {
 public:
  explicit path_filter(const std::vector<std::string>& paths) noexcept : paths_(paths) {}

  /// Whether it is about a file, link or submodule at `path`.
  [[nodiscard]] bool takes(std::string_view path) const noexcept {
    return is_any([&](std::string_view one) { return path == one || is_below(path, one); });
  }
  /// Whether it can be about anything below the folder `path`.
  [[nodiscard]] bool enters(std::string_view path) const noexcept {
    return is_any(
        [&](std::string_view one) { return path.empty() || path == one || is_below(path, one) || is_below(one, path); });
  }
  /// Whether it is about everything below the folder `path`.
  [[nodiscard]] bool covers(std::string_view path) const noexcept {
    return is_any([&](std::string_view one) {
      return path == (one.ends_with('/') ? one.substr(0, one.size() - 1) : one) || is_below(path, one);
    });
  }

 private:
  /// Whether `path` lies below the folder that `above` names, with or without a slash at its end.
  static bool is_below(std::string_view path, std::string_view above) noexcept {
    if (above.ends_with('/')) above.remove_suffix(1);
    return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
  }
  template <class Test>
  bool is_any(Test&& test) const noexcept {
    return paths_.empty() || std::any_of(paths_.begin(), paths_.end(),
                                         [&](const std::string& one) { return one.empty() || test(std::string_view(one)); });
  }

  const std::vector<std::string>& paths_;
};

/// One side of a changed file.
struct side {
  std::string path;  ///< Bytes as in the tree.
  git_oid id{};      ///< All zero: there is none.
  std::uint32_t mode = 0;
  bool is_in_work_tree = false;  ///< Its bytes are those of the file there, not of an object.

  [[nodiscard]] bool is_there() const noexcept { return mode != 0; }
};

/// Both sides have a path, also where only one is there.
struct change {
  enum class kind : std::uint8_t { added, deleted, modified, renamed, type_changed };
  kind what = kind::modified;
  side before, after;
  unsigned similarity = 0;  ///< Of a rename, in percent.
  /// Filled by `measure`.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};

struct compare_options {
  std::vector<std::string> paths{};  ///< Files and folders, literally; empty: all.
  bool finds_renames = true;         ///< As `-M` does (50 %, inexact ones among at most 1000 × 1000 files).
  std::size_t most_changes = 100'000;
  std::uint64_t largest_file = std::uint64_t{512} << 20;     ///< Of the work tree.
  std::uint64_t largest_renamed = std::uint64_t{512} << 20;  ///< What is larger is renamed only where it is equal.
  /// Asked now and then; true ends it with `cancelled`.
  std::function<bool()> is_stopped{};
};

/// Changes from one tree to another, in the order of git's diff-tree; null: the empty tree.
/// Errors: response_too_large beyond `most_changes`; cancelled; those of missing or corrupt objects.
[[nodiscard]] result<std::vector<change>> compare(git_repository* in, git_tree* from, git_tree* to,
                                                  const compare_options& options = {});

/// What a work tree has that no commit has.
struct working_changes {
  std::vector<change> staged;           ///< From HEAD's tree to the index. What is in conflict is not among them.
  std::vector<change> unstaged;         ///< From the index to the files; of what is in conflict, from our side of it.
  std::vector<std::string> conflicted;  ///< Paths of what a merge could not settle.
  /// Files that are neither tracked nor ignored, and folders of nothing but such, with a slash behind them.
  std::vector<std::string> untracked;
  /// What the operating system does not let be read, and so is in none of the above; folders with a slash behind them.
  std::vector<std::string> unreadable;
};
/// Files are taken for unchanged when the index knows their size and times, and are compared by their bytes otherwise: as they
/// are on the disk, without filters and attributes. They are read beneath the work tree only, never through links, and no more
/// than `largest_file` of each: a larger one that may have changed has no id. Submodules are not looked into: one is the same
/// as long as its folder is there. Of ignore files, the work tree's and `info/exclude` count. Nothing is written, not even the
/// index. Errors, none of which names a file: those of `compare`; unsupported for a bare repository; source_unavailable for a
/// work tree that cannot be opened, for files that the operating system cannot read now, and for an index that libgit2 cannot
/// read; content_changed.
[[nodiscard]] result<working_changes> compare_work_tree(git_repository* in, const compare_options& options = {});

struct patch_options {
  std::size_t context = 3;
  std::uint64_t most_bytes = std::uint64_t{64} << 20;     ///< Of the patch: longer is response_too_large.
  std::uint64_t largest_file = std::uint64_t{512} << 20;  ///< What is larger is taken for binary, as git does.
  /// Of either side; what is larger, though not binary by `largest_file`, is not compared: response_too_large.
  std::uint64_t largest_compared = std::uint64_t{512} << 20;
  std::size_t most_lines = 4'000'000;  ///< Of both sides together; each takes memory. More is response_too_large.
  /// Writes over what must not be seen in the bytes of a file, whose length and line ends stay; called before they are
  /// compared.
  std::function<void(std::string_view path, std::string& bytes)> mask{};
  std::function<bool()> is_stopped{};
};

/// Appends the patch of one change as `git -c diff.indentHeuristic=false diff-tree -p --full-index -M --no-ext-diff` writes it
/// (Myers' algorithm, names quoted as core.quotePath does).
[[nodiscard]] result<void> append_patch(std::string& to, git_repository* in, const change& of, const patch_options& with = {});

/// How it went with one patch.
struct patch_outcome {
  enum class kind : std::uint8_t { written, too_long, not_compared };
  kind what = kind::written;  ///< `not_compared`: a side is larger, or both have more lines, than may be compared.
  bool is_measured = false;   ///< Only then what follows is told, as `measure` does.
  bool is_binary = false;
  std::uint64_t added_lines = 0, deleted_lines = 0;
};
/// As `append_patch`, but what is too large is an outcome and no error, and what was counted on the way is told: no second
/// comparison is needed for it.
[[nodiscard]] result<patch_outcome> try_patch(std::string& to, git_repository* in, const change& of,
                                              const patch_options& with = {});

/// Fills in whether it is binary and how many lines came and went, as `--numstat` counts.
[[nodiscard]] result<void> measure(change& of, git_repository* in, const patch_options& with = {});

/// A path as it stands in patches: in quotes, with escapes, where it has bytes that need it.
[[nodiscard]] std::string quoted_path(std::string_view path);

}  // namespace hondana::git
