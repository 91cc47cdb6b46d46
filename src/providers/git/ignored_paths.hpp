/// What the `.hondanaignore` files of a repository leave out of all that is shown of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/resource.hpp>

#include "disk/stamp.hpp"
#include "ignore/stack.hpp"
#include "providers/git/library.hpp"
#include "providers/git/work_tree.hpp"

namespace hondana::git {

/// Those of the work tree as they are now count for every revision; of a bare repository, those in the tree of HEAD. They are
/// read when a path below their folder is asked about, each once. One that is a link does not count; one that cannot be read
/// or used whole, or is no regular file, leaves out all that is in its folder, and so does what would take too long.
///
/// For one call, and one thread.
class ignored_paths {
 public:
  ignored_paths(git_repository* in, bool has_work_tree);

  /// Whether a path is left out, or a folder above it is. Empty names in it do not count.
  [[nodiscard]] bool leaves_out(std::string_view path, bool is_folder);
  /// Reads what counts for what is right in a folder.
  void look_into(std::string_view folder) { (void)level_of(folder); }
  /// Made from all that was looked at so far, for versions of what was decided by that; empty where there was no such file.
  [[nodiscard]] std::string state() const;
  /// In so many folders. Whoever decided about more paths than before in no more folders rests on nothing else.
  [[nodiscard]] std::size_t folder_count() const noexcept { return levels_.size(); }
  /// Holds while all that was looked at so far is as it was; null where that cannot be told in the time that there is.
  [[nodiscard]] std::shared_ptr<const validity> unchanged() const;

 private:
  /// An ignore file, where one is there.
  struct found_list {
    ignore::list_pointer list{};
    std::string mark{};  // its content, or what keeps it from being read
    std::optional<disk::stamp> stamp{};
  };
  /// A folder that was looked into, or would have been if it were there.
  struct level {
    ignore::stack rules{};
    found_list own{};
    bool is_there = true;
    bool is_left_out = false;
    git_oid tree{};  // of a bare repository
  };

  const level& level_of(std::string_view folder);
  level top();
  level below(const level& above, const std::string& folder);
  bool decides(const level& by, std::string_view path, bool is_folder);
  [[nodiscard]] found_list in_work_tree(const std::string& folder) const;
  [[nodiscard]] found_list in_tree(const git_oid& tree) const;
  [[nodiscard]] static found_list unusable(std::string why);
  found_list counted(found_list found, const std::string& folder);

  git_repository* const in_;
  const bool has_work_tree_;
  std::optional<work_tree> files_;
  std::map<std::string, level, std::less<>> levels_;  // by path; the first is the top
  std::uint64_t steps_left_;
  std::size_t bytes_ = 0;  // of all lists
};

}  // namespace hondana::git
