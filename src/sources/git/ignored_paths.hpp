/// Paths that the `.hondanaignore` files of a repository exclude.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "base/ignore/gitignore.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// Reads trees, and caches them up to a limit. Threads: one at a time. The arguments of the constructor must outlive this
/// object.
class tree_cache {
 public:
  tree_cache(git_repository* repo, const cancellation_checker& cancellation) noexcept
      : repo_(repo), cancellation_(cancellation) {}

  struct child {
    git_oid id{};
    std::uint32_t mode = 0;
  };
  /// Finds an entry of a tree by name. nullopt: there is none, or the name is not valid in a path. Errors: cancelled;
  /// source_unavailable for trees that are missing or damaged.
  [[nodiscard]] result<std::optional<child>> find(const git_oid& tree, std::string_view name);

  /// Number of trees that were read, including repeated reads.
  [[nodiscard]] std::size_t read_count() const noexcept { return read_count_; }

 private:
  struct cached_tree {
    std::string id;  // 20 bytes
    tree_pointer tree;
    std::size_t bytes = 0;
  };

  /// Owned by the cache; valid until the next call.
  result<git_tree*> open(const git_oid& id);

  git_repository* const repo_;
  const cancellation_checker& cancellation_;
  std::list<cached_tree> trees_;  // most recently used first
  std::map<std::string, std::list<cached_tree>::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
  std::size_t read_count_ = 0;
};

/// Decides which paths the `.hondanaignore` files exclude. The current files of the work tree apply to every revision; in a
/// bare repository, those in the tree of HEAD. Reads each file once, when a path below its folder is checked. Ignores files
/// that are links. A file that cannot be read or compiled completely, or is not a regular file, excludes everything in its
/// folder. A path whose decision would take too long is excluded.
///
/// If no decision is possible, for example for lack of descriptors, `error` is set and everything is excluded. The caller must
/// then fail with `error`.
///
/// Create one object for each call of the provider. Threads: one at a time.
class ignored_paths {
 public:
  /// Default limit of `memory_bytes`.
  static constexpr std::size_t max_bytes = std::size_t{128} << 20;

  /// `is_stopped`: called at each folder of a bare repository, and periodically for a work tree; true sets `error` to
  /// cancelled. May be empty.
  ignored_paths(git_repository* repo, bool has_work_tree, std::function<bool()> is_stopped = {},
                std::size_t memory_limit = max_bytes);
  ignored_paths(const ignored_paths&) = delete;
  ignored_paths& operator=(const ignored_paths&) = delete;

  /// Whether a path or a folder above it is excluded. Repeated slashes in `path` are ignored.
  [[nodiscard]] bool excludes(std::string_view path, bool is_folder);
  /// Reads the ignore files of a folder and of those above it.
  void load_folder(std::string_view folder);
  /// A digest of all ignore files read so far, for the versions of responses. Empty if there were none.
  [[nodiscard]] std::string digest() const;
  /// Number of folders whose ignore files were searched for. While it is the same, `digest` is the same.
  [[nodiscard]] std::size_t folder_count() const noexcept { return levels_.size(); }
  /// Makes a validator that is valid while all decisions so far would be the same. Null: this cannot be checked quickly, or the
  /// repository is bare.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator() const;

  /// The first failure that prevented a decision: cancelled; source_unavailable; response_too_large above the memory limit.
  [[nodiscard]] const std::optional<failure>& error() const noexcept { return error_; }
  /// Whether a folder is excluded because its ignore file cannot be used, which may change soon.
  [[nodiscard]] bool has_unusable() const noexcept { return has_unusable_; }
  /// Approximate memory for ignore files and folders.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  /// Number of trees of a bare repository that were read.
  [[nodiscard]] std::size_t tree_read_count() const noexcept { return trees_.read_count(); }

 private:
  struct ignore_file {
    ignore::list_pointer list{};         // null: there is no ignore file
    std::string etag{};                  // a digest of the content, or why the file cannot be used
    std::optional<disk::stamp> stamp{};  // of a file in the work tree
  };
  /// A folder, which need not exist.
  struct level {
    const level* parent = nullptr;                 // null: the top folder
    std::string_view name{};                       // a view of the key in `levels_`
    std::shared_ptr<const ignore::stack> rules{};  // those of this folder and of all folders above it
    std::unique_ptr<const ignore_file> file{};     // null: this folder has no ignore file
    git_oid tree{};                                // only in a bare repository
    bool exists = true;
    bool is_excluded = false;
  };
  // The parent and the name of a folder. Full paths of deep folders would be long.
  using key = std::pair<const level*, std::string>;
  struct key_order {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& left, const B& right) const noexcept {
      if (left.first != right.first) return std::less<const level*>()(left.first, right.first);
      return std::string_view(left.second) < std::string_view(right.second);
    }
  };

  /// Returns the folder, or the first folder above it that is excluded or does not exist. After an error: `excluded_level_`.
  const level& find_level(std::string_view folder);
  const level& add_level(const level* parent, std::string_view folder, std::string_view name);
  void load_top_level(level& target);
  void load_level(level& target, std::string_view folder);
  /// Adds the ignore file to the rules of a folder, and counts its memory. Does nothing if there is no file.
  void apply_file(level& target, ignore_file file, std::string_view folder);
  /// Applies the rules of `folder_level` to a path below it.
  bool is_excluded_by(const level& folder_level, std::string_view path, bool is_folder);
  ignore_file read_from_work_tree(std::string_view folder);
  ignore_file read_from_tree(const git_oid& tree);
  /// Makes an ignore file that excludes everything.
  ignore_file make_unusable(std::string reason);
  /// Like `make_unusable`; but sets `error_` if the call was cancelled or descriptors are missing.
  ignore_file make_unusable_after(const failure& error, std::string_view reason);
  void set_error(failure error);
  void add_memory(std::size_t bytes);
  [[nodiscard]] static std::string path_of(const level& folder_level);

  git_repository* const repo_;
  const bool has_work_tree_;
  const std::function<bool()> is_stopped_;
  const std::size_t memory_limit_;
  cancellation_checker cancellation_;
  tree_cache trees_;
  std::optional<work_tree> work_tree_;
  std::map<key, level, key_order> levels_;
  const level excluded_level_;  // represents every folder once `error_` is set
  std::optional<failure> error_;
  std::uint64_t steps_left_;  // matching steps that further decisions may take
  std::size_t memory_bytes_ = 0;
  bool has_unusable_ = false;
};

}  // namespace hondana::git
