/// The work trees of a repository, as its git folder names them.
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "sources/git/enclosure.hpp"
#include "sources/git/named_reference.hpp"
#include "sources/git/references.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_work_trees = 1000;
constexpr std::size_t longest_pointer_file = 4096;
constexpr std::string_view head_label = "ref: ", heads_prefix = "refs/heads/";

std::string_view trimmed_end(std::string_view text) noexcept {
  while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// What a HEAD that is not ours says: a branch, or an id.
void read_head(linked_work_tree& into, git_repository* in, const enclosure& inside, const std::string& folder) {
  const auto text = inside.read(folder + "/HEAD", longest_pointer_file);
  if (!text) return;
  auto line = trimmed_end(*text);
  if (!line.starts_with(head_label)) {
    if (line.size() == GIT_OID_HEXSZ && git_oid_fromstrn(&into.head, line.data(), line.size()) < 0) into.head = {};
    git_error_clear();
    return;
  }
  line.remove_prefix(head_label.size());
  const auto target = follow_reference(in, std::string(line));
  git_error_clear();
  into.branch = line.starts_with(heads_prefix) ? line.substr(heads_prefix.size()) : line;
  if (target && target->id) into.head = *target->id;
}

bool is_bare_by_config(git_repository* in) {
  git_config* raw = nullptr;
  if (git_repository_config(&raw, in) < 0) return false;
  const config_pointer config(raw);
  int is_true = 0;
  const int code = git_config_get_bool(&is_true, raw, "core.bare");
  git_error_clear();
  return code == 0 && is_true != 0;
}

std::vector<std::string> folders_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (std::filesystem::directory_iterator one(folder, problem), end; !problem && one != end; one.increment(problem)) {
    if (names.size() == most_work_trees) break;
    std::error_code gone;  // what has gone since is none
    if (one->symlink_status(gone).type() == std::filesystem::file_type::directory) names.push_back(one->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

result<std::vector<linked_work_tree>> linked_work_trees(git_repository* in, const std::vector<std::string>& roots) {
  std::string common = git_repository_commondir(in);
  while (common.ends_with('/')) common.pop_back();
  const enclosure own({common}), inside(roots);
  std::vector<linked_work_tree> found;
  if (!is_bare_by_config(in)) {
    linked_work_tree main;
    read_head(main, in, own, common);
    main.is_present = true;
    found.push_back(std::move(main));
  }
  const auto all = common + "/worktrees";
  const auto real = own.folder(all);
  if (!real && real.error() == astray::missing) return found;
  if (!real || *real != all)
    return fail(errc::source_unavailable, "The repository's folder of work trees, .git/worktrees, " +
                                              std::string(real ? "is a link" : text_of(real.error())) +
                                              ", so linked work trees cannot be listed. Make it an ordinary folder.");
  for (auto& name : folders_of(all)) {
    const auto folder = all + '/' + name;
    linked_work_tree one;
    read_head(one, in, own, folder);
    struct stat facts{};
    one.is_locked = ::lstat((folder + "/locked").c_str(), &facts) == 0;
    if (const auto pointer = own.read(folder + "/gitdir", longest_pointer_file)) {
      const auto named = trimmed_end(*pointer);
      const auto path = std::filesystem::path(folder).append(named).lexically_normal().string();
      one.is_outside = std::none_of(roots.begin(), roots.end(), [&](const auto& root) { return path.starts_with(root + '/'); });
      one.is_present = !one.is_outside && inside.file(path).has_value();
    }
    one.name = std::move(name);
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace hondana::git
