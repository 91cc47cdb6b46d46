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

/// Reads a tree at the first look into it, and keeps it while there is room, so that a look at each of its entries does not
/// read it again. For one thread. Lifetime: refers to what it is given.
class kept_trees {
 public:
  kept_trees(git_repository* in, const stopping& asks) noexcept : in_(in), asks_(asks) {}

  struct found {
    git_oid id{};
    std::uint32_t mode = 0;
  };
  /// Nothing: there is no such name, or it is none that a path could have. Errors: cancelled; source_unavailable for trees that
  /// are missing or damaged.
  [[nodiscard]] result<std::optional<found>> find(const git_oid& tree, std::string_view name);

  /// How many trees were read, those that had to be read again each time.
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
  std::list<kept> all_;  // the last that was asked for first
  std::map<std::string, std::list<kept>::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
  std::size_t reads_ = 0;
};

/// Those of the work tree as they are now count for every revision; of a bare repository, those in the tree of HEAD. They are
/// read when a path below their folder is asked about, each once. One that is a link does not count; one that cannot be read
/// or used whole, or is no regular file, leaves out all that is in its folder, and so does what would take too long.
///
/// Where nothing can be said, for want of descriptors, say, all is left out, and `trouble` says why: whoever answers a call
/// answers with that.
///
/// For one call, and one thread.
class ignored_paths {
 public:
  /// Of all that is kept in mind: lists, and folders that were looked into.
  static constexpr std::size_t most_bytes = std::size_t{128} << 20;

  /// `is_stopped` is asked at each folder of a bare repository, and now and then of a work tree.
  ignored_paths(git_repository* in, bool has_work_tree, std::function<bool()> is_stopped = {}, std::size_t most = most_bytes);
  ignored_paths(const ignored_paths&) = delete;
  ignored_paths& operator=(const ignored_paths&) = delete;

  /// Whether a path is left out, or a folder above it is. Empty names in it do not count.
  [[nodiscard]] bool leaves_out(std::string_view path, bool is_folder);
  /// Reads what counts for what is right in a folder.
  void look_into(std::string_view folder);
  /// Made from all that was looked at so far, for versions of what was decided by that; empty where there was no such file.
  [[nodiscard]] std::string state() const;
  /// In so many folders. Whoever decided about more paths than before in no more folders rests on nothing else.
  [[nodiscard]] std::size_t folder_count() const noexcept { return levels_.size(); }
  /// Holds while all that was looked at so far is as it was; null where that cannot be told in the time that there is.
  [[nodiscard]] std::shared_ptr<const validity> unchanged() const;

  /// What kept from deciding, the first of it: cancelled; source_unavailable; response_too_large beyond `most` bytes.
  [[nodiscard]] const std::optional<failure>& trouble() const noexcept { return trouble_; }
  /// Whether something was left out because an ignore file could not be used: it may be readable soon.
  [[nodiscard]] bool has_unusable() const noexcept { return has_unusable_; }
  /// What is kept in mind, about.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// How many trees of a bare repository were read.
  [[nodiscard]] std::size_t trees_read() const noexcept { return trees_.reads(); }

 private:
  /// An ignore file, where one is there.
  struct found_list {
    ignore::list_pointer list{};
    std::string mark{};  // its content, or what keeps it from being read
    std::optional<disk::stamp> stamp{};
  };
  /// A folder that was looked into, or would have been if it were there.
  struct level {
    const level* above = nullptr;
    std::string_view name{};                       // of its key
    std::shared_ptr<const ignore::stack> rules{};  // of the deepest folder down to here that has an ignore file, or the top
    std::unique_ptr<const found_list> own{};       // null: there is none
    git_oid tree{};                                // of a bare repository
    bool is_there = true;
    bool is_left_out = false;
  };
  // A folder is known by the one above and its name, not by its path: that would be long where folders are deep.
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
  /// Takes over what was found in a folder, and counts it.
  void take(level& made, found_list found, std::string_view folder);
  bool decides(const level& by, std::string_view path, bool is_folder);
  found_list in_work_tree(std::string_view folder);
  found_list in_tree(const git_oid& tree);
  found_list unusable(std::string why);
  /// The same, unless the failure is one of this process, and not of what was looked at.
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
  const level shut_;  // stands for all once there is trouble
  std::optional<failure> trouble_;
  std::uint64_t steps_left_;
  std::size_t bytes_ = 0;
  bool has_unusable_ = false;
};

}  // namespace hondana::git
