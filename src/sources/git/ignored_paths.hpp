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

/// Reads trees and caches them while there is room, so that checking each entry of one does not read it again. For one thread.
/// Lifetime: refers to its arguments.
class tree_cache {
 public:
  tree_cache(git_repository* repo, const cancellation_checker& cancellation) noexcept
      : repo_(repo), cancellation_(cancellation) {}

  struct child {
    git_oid id{};
    std::uint32_t mode = 0;
  };
  /// Nothing if the name does not exist, or if no path could have it. Errors: cancelled; source_unavailable for trees that are
  /// missing or damaged.
  [[nodiscard]] result<std::optional<child>> find(const git_oid& tree, std::string_view name);

  /// How many trees were read, including repeated reads.
  [[nodiscard]] std::size_t read_count() const noexcept { return read_count_; }

 private:
  struct cached_tree {
    std::string id;
    tree_pointer tree;
    std::size_t bytes = 0;
  };

  result<git_tree*> open(const git_oid& id);

  git_repository* const repo_;
  const cancellation_checker& cancellation_;
  std::list<cached_tree> trees_;  // most recently used first
  std::map<std::string, std::list<cached_tree>::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
  std::size_t read_count_ = 0;
};

/// The rules of `.hondanaignore` files. Those in the work tree, as they are now, apply to every revision; in a bare repository,
/// those in the tree of HEAD. Each is read once, when a path below its folder is checked. A file that is a link is skipped. One
/// that cannot be read or compiled completely, or that is not a regular file, excludes everything in its folder. So does a
/// decision that would take too long.
///
/// If no decision is possible, for instance for lack of descriptors, everything is excluded and `error` is set. The call must
/// then fail with it.
///
/// For one call, and one thread.
class ignored_paths {
 public:
  /// Memory for everything that is stored: ignore files, and folders that were checked.
  static constexpr std::size_t max_bytes = std::size_t{128} << 20;

  /// `is_stopped` is called at each folder of a bare repository, and periodically for a work tree.
  ignored_paths(git_repository* repo, bool has_work_tree, std::function<bool()> is_stopped = {},
                std::size_t memory_limit = max_bytes);
  ignored_paths(const ignored_paths&) = delete;
  ignored_paths& operator=(const ignored_paths&) = delete;

  /// Whether a path or a folder above it is excluded. Empty names in it are ignored.
  [[nodiscard]] bool excludes(std::string_view path, bool is_folder);
  /// Reads the ignore files that apply to entries of a folder.
  void load_folder(std::string_view folder);
  /// A digest of all ignore files read so far, for versions of what depends on them. Empty if there were none.
  [[nodiscard]] std::string digest() const;
  /// How many folders were checked. While this stays the same, further decisions depend on the same ignore files.
  [[nodiscard]] std::size_t folder_count() const noexcept { return levels_.size(); }
  /// A validator that holds while everything checked so far is unchanged; null if that cannot be determined in a short time.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator() const;

  /// The first failure that prevented a decision: cancelled; source_unavailable; response_too_large above `memory_limit` bytes.
  [[nodiscard]] const std::optional<failure>& error() const noexcept { return error_; }
  /// Whether something was excluded because an ignore file could not be used. It may be readable soon.
  [[nodiscard]] bool has_unusable() const noexcept { return has_unusable_; }
  /// Approximate memory use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  /// How many trees of a bare repository were read.
  [[nodiscard]] std::size_t tree_read_count() const noexcept { return trees_.read_count(); }

 private:
  /// An ignore file, if there is one.
  struct ignore_file {
    ignore::list_pointer list{};
    std::string etag{};  // its content, or why it cannot be read
    std::optional<disk::stamp> stamp{};
  };
  /// A folder that was checked, or would have been if it existed.
  struct level {
    const level* parent = nullptr;
    std::string_view name{};                       // part of its key
    std::shared_ptr<const ignore::stack> rules{};  // of the deepest folder down to here with an ignore file, or of the top
    std::unique_ptr<const ignore_file> file{};     // null: none
    git_oid tree{};                                // in a bare repository
    bool exists = true;
    bool is_excluded = false;
  };
  // A folder is identified by its parent and its name. Full paths would be long where folders are deep.
  using key = std::pair<const level*, std::string>;
  struct key_order {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& left, const B& right) const noexcept {
      if (left.first != right.first) return std::less<const level*>()(left.first, right.first);
      return std::string_view(left.second) < std::string_view(right.second);
    }
  };

  const level& find_level(std::string_view folder);
  const level& add_level(const level* parent, std::string_view folder, std::string_view name);
  void load_top_level(level& target);
  void load_level(level& target, std::string_view folder);
  /// Stores the ignore file of a folder, and counts its memory.
  void apply_file(level& target, ignore_file file, std::string_view folder);
  bool is_excluded_by(const level& folder_level, std::string_view path, bool is_folder);
  ignore_file read_from_work_tree(std::string_view folder);
  ignore_file read_from_tree(const git_oid& tree);
  ignore_file make_unusable(std::string reason);
  /// The same, unless the failure is one of this process, and not of the file.
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
  std::uint64_t steps_left_;
  std::size_t memory_bytes_ = 0;
  bool has_unusable_ = false;
};

}  // namespace hondana::git
