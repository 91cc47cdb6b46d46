/// Asks what lies at a path before asking whether it is shown.
#include "sources/git/sought_path.hpp"

#include <algorithm>

#include "sources/git/concealment.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

/// `a//b` is `a/b` to a search in trees, and must be to the rules.
std::string without_empty_names(std::string_view path) {
  std::string tidied;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (!name.empty()) tidied += (tidied.empty() ? "" : "/") + std::string(name);
  }
  return tidied;
}

bool is_shown(const asking& what, std::string_view rev, const git_oid& tree, std::string_view path) {
  const auto entry = find_entry(what.in, tree, path);
  if (entry && entry->is_folder()) return what.hides.shows_folder(rev, path);
  if (!what.hides.shows_file(rev, path, entry ? entry->kind() : "blob")) return false;
  if (!entry) return what.hides.shows_folder(rev, path);
  return !entry->is_submodule() || what.hides.secret_at(path, true).empty();
}

}  // namespace

std::string sought_path(const asking& what, std::string_view rev, const git_oid& tree) {
  auto path = without_empty_names(what.at.path);
  // Names in trees end at their NUL.
  if (!path.empty() && !is_shown(what, rev, tree, path)) return std::string(1, '\0');
  return path;
}

}  // namespace hondana::git
