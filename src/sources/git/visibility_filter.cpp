/// Decides what a caller may not see of a repository: secrets, ignored files, the server's own files, and files that access
/// rules deny.
#include "sources/git/visibility_filter.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "protocol/model/caller_checks.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/text_escaping.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::git {

disk::own_files find_own_files(const repository_location& location, const std::vector<repository_location>& locations,
                               const std::vector<std::string>& protected_paths) {
  constexpr std::string_view git_folder_suffix = "/.git";
  std::set<std::string> work_trees;
  for (const auto& other : locations)
    if (other.common_folder == location.common_folder) work_trees.insert(other.work_tree);
  if (location.common_folder.ends_with(git_folder_suffix))
    work_trees.insert(location.common_folder.substr(0, location.common_folder.size() - git_folder_suffix.size()));
  work_trees.erase("");
  work_trees.erase(location.work_tree);
  // A bare folder contains only git's names, so no path in a tree is mistaken for one of them.
  const auto& root = location.work_tree.empty() ? location.git_folder : location.work_tree;
  auto paths = protected_paths;
  for (const auto& work_tree : work_trees)
    for (const auto& path : protected_paths)
      if (path.starts_with(work_tree + '/')) paths.push_back(root + path.substr(work_tree.size()));
  return {std::move(paths), root};
}

namespace {

constexpr std::string_view own_file_reason = "it is one of the server's own files, named in its configuration";
constexpr std::string_view ignored_reason = "a .hondanaignore file excludes it";

/// The parts of an entry that access rules check.
resource make_rule_entry(std::string uri, std::string_view kind) {
  resource entry;
  entry.uri = std::move(uri);
  entry.kind = kind;
  return entry;
}

}  // namespace

std::string visibility_filter::hidden_reason(std::string_view path, bool is_folder) const {
  const auto reason_of = [](const secrets::secret_rule& rule) {
    return "its name suggests that it contains " + std::string(rule.reason);
  };
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    if (const auto* rule = secrets::find_secret(path.substr(0, slash), true)) return reason_of(*rule);
  if (const auto* rule = secrets::find_secret(path, is_folder)) return reason_of(*rule);
  if (!is_folder && own_files_.has_name(path)) return std::string(own_file_reason);
  return ignored_.excludes(path, is_folder) ? std::string(ignored_reason) : std::string();
}

failure visibility_filter::hidden_error(std::string_view path, std::string_view reason) {
  return {errc::resource_not_found,
          "path: " + quote(path, 400) + " is not served at any revision, because " + std::string(reason) + '.',
          {}};
}

std::string visibility_filter::hidden_inode_reason(const struct stat& attributes) const {
  return own_files_.is_hard_link(attributes) ? std::string(own_file_reason) : std::string();
}

bool visibility_filter::shows_file(std::string_view rev, std::string_view path, std::string_view kind) const {
  return hidden_reason(path, false).empty() && allows_file(rev, path, kind);
}

bool visibility_filter::allows_file(std::string_view rev, std::string_view path, std::string_view kind) const {
  if (filter_ == nullptr) return true;
  const address target{
      .repo = std::string(slug_), .kind = resource_kind::blob, .rev = std::string(rev), .path = std::string(path)};
  return model::may_read(filter_, make_rule_entry(uri_of(target), kind));
}

bool visibility_filter::shows_folder(std::string_view rev, std::string_view path) const {
  return lists(
      uri_of({.repo = std::string(slug_), .kind = resource_kind::tree, .rev = std::string(rev), .path = std::string(path)}),
      path, true, "tree");
}

bool visibility_filter::allows(std::string uri, std::string_view kind) const {
  return filter_ == nullptr || model::may_see(filter_, make_rule_entry(std::move(uri), kind));
}

bool visibility_filter::lists(const std::string& uri, std::string_view path, bool is_folder, std::string_view kind) const {
  return hidden_reason(path, is_folder).empty() && allows(uri, kind);
}

std::size_t visibility_filter::mask_file(std::string_view path, std::string& bytes) const {
  if (!masks_) return 0;
  return secrets::redactor(secrets::policy_of(path), bytes).mask(bytes);
}

std::size_t visibility_filter::mask_message(std::string& text) const {
  if (!masks_) return 0;
  return secrets::redactor(secrets::masking_policy::text, text).mask(text);
}

}  // namespace hondana::git
