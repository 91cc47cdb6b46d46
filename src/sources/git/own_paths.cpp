/// Carries paths from one work tree of a repository to another.
#include "sources/git/own_paths.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace hondana::git {

disk::own_files own_files_in(const place& of, const std::vector<place>& all, const std::vector<std::string>& keep_back) {
  constexpr std::string_view usual_name = "/.git";
  std::set<std::string> work_trees;
  for (const auto& one : all)
    if (one.common_folder == of.common_folder) work_trees.insert(one.work_tree);
  if (of.common_folder.ends_with(usual_name))
    work_trees.insert(of.common_folder.substr(0, of.common_folder.size() - usual_name.size()));
  work_trees.erase("");
  work_trees.erase(of.work_tree);
  // The names in a bare folder are git's, so that no path in a tree is taken for one of them.
  const auto& root = of.work_tree.empty() ? of.git_folder : of.work_tree;
  auto paths = keep_back;
  for (const auto& other : work_trees)
    for (const auto& one : keep_back)
      if (one.starts_with(other + '/')) paths.push_back(root + one.substr(other.size()));
  return {std::move(paths), root};
}

}  // namespace hondana::git
