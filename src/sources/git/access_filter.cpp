/// Decides what a caller may not see of a repository: secrets, ignored files, the server's own files, and files that access
/// rules deny.
#include "sources/git/access_filter.hpp"

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

disk::own_files own_files_in(const place& of, const std::vector<place>& all, const std::vector<std::string>& keep_back) {
  constexpr std::string_view usual_name = "/.git";
  std::set<std::string> work_trees;
  for (const auto& one : all)
    if (one.common_folder == of.common_folder) work_trees.insert(one.work_tree);
  if (of.common_folder.ends_with(usual_name))
    work_trees.insert(of.common_folder.substr(0, of.common_folder.size() - usual_name.size()));
  work_trees.erase("");
  work_trees.erase(of.work_tree);
  // A bare folder contains only git's names, so no path in a tree is mistaken for one of them.
  const auto& root = of.work_tree.empty() ? of.git_folder : of.work_tree;
  auto paths = keep_back;
  for (const auto& other : work_trees)
    for (const auto& one : keep_back)
      if (one.starts_with(other + '/')) paths.push_back(root + one.substr(other.size()));
  return {std::move(paths), root};
}

namespace {

constexpr std::string_view own_reason = "it is one of the server's own files, named in its configuration";
constexpr std::string_view ignored_reason = "a .hondanaignore file excludes it";

/// The parts of an entry that access rules check.
resource entry_for_rules(std::string uri, std::string_view kind) {
  resource entry;
  entry.uri = std::move(uri);
  entry.kind = kind;
  return entry;
}

}  // namespace

std::string concealment::secret_at(std::string_view path, bool is_folder) const {
  const auto reason_of = [](const secrets::secret_rule& rule) {
    return "its name suggests that it contains " + std::string(rule.reason);
  };
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    if (const auto* rule = secrets::find_secret(path.substr(0, slash), true)) return reason_of(*rule);
  if (const auto* rule = secrets::find_secret(path, is_folder)) return reason_of(*rule);
  if (!is_folder && own_.has_name(path)) return std::string(own_reason);
  return ignored_.leaves_out(path, is_folder) ? std::string(ignored_reason) : std::string();
}

failure concealment::refusal_of(std::string_view path, std::string_view reason) {
  return {errc::resource_not_found,
          "path: " + in_quotes(path, 400) + " is not served at any revision, because " + std::string(reason) + '.',
          {}};
}

std::string concealment::secret_in(const struct stat& facts) const {
  return own_.is_one(facts) ? std::string(own_reason) : std::string();
}

bool concealment::shows_file(std::string_view rev, std::string_view path, std::string_view kind) const {
  return secret_at(path, false).empty() && allows_file(rev, path, kind);
}

bool concealment::allows_file(std::string_view rev, std::string_view path, std::string_view kind) const {
  if (through_ == nullptr) return true;
  const address at{.repo = std::string(repo_), .what = topic::blob, .rev = std::string(rev), .path = std::string(path)};
  return model::may_read(through_, entry_for_rules(uri_of(at), kind));
}

bool concealment::shows_folder(std::string_view rev, std::string_view path) const {
  return lists(uri_of({.repo = std::string(repo_), .what = topic::tree, .rev = std::string(rev), .path = std::string(path)}),
               path, true, "tree");
}

bool concealment::allows(std::string uri, std::string_view kind) const {
  return through_ == nullptr || model::may_see(through_, entry_for_rules(std::move(uri), kind));
}

bool concealment::lists(const std::string& uri, std::string_view path, bool is_folder, std::string_view kind) const {
  return secret_at(path, is_folder).empty() && allows(uri, kind);
}

std::size_t concealment::mask_file(std::string_view path, std::string& bytes) const {
  if (!masks_) return 0;
  return secrets::redactor(secrets::policy_of(path), bytes).mask(bytes);
}

std::size_t concealment::mask_message(std::string& text) const {
  if (!masks_) return 0;
  return secrets::redactor(secrets::policy::text, text).mask(text);
}

}  // namespace hondana::git
