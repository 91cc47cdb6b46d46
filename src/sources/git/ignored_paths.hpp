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
class kept_trees {
 public:
  kept_trees(git_repository* in, const stopping& asks) noexcept : in_(in), asks_(asks) {}

  struct found {
    git_oid id{};
    std::uint32_t mode = 0;
  };
  /// Nothing if the name does not exist, or if no path could have it. Errors: cancelled; source_unavailable for trees that are
  /// missing or damaged.
  [[nodiscard]] result<std::optional<found>> find(const git_oid& tree, std::string_view name);

  /// How many trees were read, including repeated reads.
  [[nodiscard]] std::size_t reads() const noexcept { return reads_; }

 private:
  struct kept {
    std::string id;
    tree_pointer tree;
    std::size_t bytes = 0;
  };

  result<git_tree*> open(const git_oid& id);

  git_repository* const in_;
  const stopping& asks_;
  std::list<kept> all_;  // most recently used first
  std::map<std::string, std::list<kept>::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
  std::size_t reads_ = 0;
};

/// The rules of `.hondanaignore` files. Those in the work tree, as they are now, apply to every revision; in a bare repository,
/// those in the tree of HEAD. Each is read once, when a path below its folder is checked. A file that is a link is skipped. One
/// that cannot be read or compiled completely, or that is not a regular file, excludes everything in its folder. So does a
/// decision that would take too long.
///
/// If no decision is possible, for instance for lack of descriptors, everything is excluded and `trouble` is set. The call must
/// then fail with it.
///
/// For one call, and one thread.
class ignored_paths {
 public:
  /// Memory for everything that is stored: lists, and folders that were checked.
  static constexpr std::size_t most_bytes = std::size_t{128} << 20;

  /// `is_stopped` is called at each folder of a bare repository, and periodically for a work tree.
  ignored_paths(git_repository* in, bool has_work_tree, std::function<bool()> is_stopped = {}, std::size_t most = most_bytes);
  ignored_paths(const ignored_paths&) = delete;
  ignored_paths& operator=(const ignored_paths&) = delete;

  /// Whether a path or a folder above it is excluded. Empty names in it are ignored.
  [[nodiscard]] bool leaves_out(std::string_view path, bool is_folder);
  /// Reads the ignore files that apply to entries of a folder.
  void look_into(std::string_view folder);
  /// A digest of all ignore files read so far, for versions of what depends on them. Empty if there were none.
  [[nodiscard]] std::string state() const;
  /// How many folders were checked. While this stays the same, further decisions depend on the same ignore files.
  [[nodiscard]] std::size_t folder_count() const noexcept { return levels_.size(); }
  /// Holds while everything that was checked so far is unchanged; null if that cannot be determined in a short time.
  [[nodiscard]] std::shared_ptr<const validity> unchanged() const;

  /// The first failure that prevented a decision: cancelled; source_unavailable; response_too_large above `most` bytes.
  [[nodiscard]] const std::optional<failure>& trouble() const noexcept { return trouble_; }
  /// Whether something was excluded because an ignore file could not be used. It may be readable soon.
  [[nodiscard]] bool has_unusable() const noexcept { return has_unusable_; }
  /// Approximate memory use.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// How many trees of a bare repository were read.
  [[nodiscard]] std::size_t trees_read() const noexcept { return trees_.reads(); }

 private:
  /// An ignore file, if there is one.
  struct found_list {
    ignore::list_pointer list{};
    std::string mark{};  // its content, or why it cannot be read
    std::optional<disk::stamp> stamp{};
  };
  /// A folder that was checked, or would have been if it existed.
  struct level {
    const level* above = nullptr;
    std::string_view name{};                       // part of its key
    std::shared_ptr<const ignore::stack> rules{};  // of the deepest folder down to here with an ignore file, or of the top
    std::unique_ptr<const found_list> own{};       // null: none
    git_oid tree{};                                // in a bare repository
    bool is_there = true;
    bool is_left_out = false;
  };
  // A folder is identified by its parent and its name. Full paths would be long where folders are deep.
  using key = std::pair<const level*, std::string>;
  struct key_order {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& one, const B& other) const noexcept {
      if (one.first != other.first) return std::less<const level*>()(one.first, other.first);
      return std::string_view(one.second) < std::string_view(other.second);
    }
  };

  const level& level_of(std::string_view folder);
  const level& add(const level* above, std::string_view folder, std::string_view name);
  void fill_top(level& made);
  void fill(level& made, std::string_view folder);
  /// Stores the ignore file of a folder, and counts its memory.
  void take(level& made, found_list found, std::string_view folder);
  bool decides(const level& by, std::string_view path, bool is_folder);
  found_list in_work_tree(std::string_view folder);
  found_list in_tree(const git_oid& tree);
  found_list unusable(std::string why);
  /// The same, unless the failure is one of this process, and not of the file.
  found_list unusable_for(const failure& why, std::string_view said);
  void give_up(failure why);
  void count(std::size_t bytes);
  [[nodiscard]] static std::string path_of(const level& one);

  git_repository* const in_;
  const bool has_work_tree_;
  const std::function<bool()> is_stopped_;
  const std::size_t most_;
  stopping stopping_;
  kept_trees trees_;
  std::optional<work_tree> files_;
  std::map<key, level, key_order> levels_;
  const level shut_;  // represents every folder once there is `trouble_`
  std::optional<failure> trouble_;
  std::uint64_t steps_left_;
  std::size_t bytes_ = 0;
  bool has_unusable_ = false;
};

}  // namespace hondana::git
