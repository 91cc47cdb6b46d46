/// Tags, stashes, linked work trees, remotes and HEAD of a repository.
#include "sources/git/references.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "sources/git/confined_roots.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/text_encoding.hpp"

namespace hondana::git {
namespace {

std::string operation_in(git_repository* in) {
  switch (git_repository_state(in)) {
    case GIT_REPOSITORY_STATE_MERGE:
      return "merge";
    case GIT_REPOSITORY_STATE_REVERT:
    case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
      return "revert";
    case GIT_REPOSITORY_STATE_CHERRYPICK:
    case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
      return "cherry-pick";
    case GIT_REPOSITORY_STATE_BISECT:
      return "bisect";
    case GIT_REPOSITORY_STATE_REBASE:
    case GIT_REPOSITORY_STATE_REBASE_INTERACTIVE:
    case GIT_REPOSITORY_STATE_REBASE_MERGE:
      return "rebase";
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE:
      return "am";
    default:
      return {};
  }
}

}  // namespace

result<head_state> head_of(git_repository* in) {
  constexpr std::string_view heads = "refs/heads/";
  auto found = follow_reference(in, "HEAD");
  git_error_clear();
  if (!found || (found->name == "HEAD" && !found->id))
    return fail(errc::source_unavailable,
                !found && found.error() == lost::circular
                    ? "HEAD is part of a cycle of references. Run `git symbolic-ref HEAD refs/heads/NAME` to fix it."
                    : "HEAD or the reference that it points to cannot be read. Run `git fsck` for details, or choose another "
                      "branch with `git symbolic-ref HEAD refs/heads/NAME`.");
  head_state state;
  state.commit = found->id;
  if (found->name != "HEAD")
    state.branch = found->name.starts_with(heads) ? found->name.substr(heads.size()) : std::move(found->name);
  state.operation = operation_in(in);
  return state;
}

namespace {

constexpr const char* tag_prefix = "refs/tags/";
/// Bytes of a tag's text that are used, which suffices for a list.
constexpr std::size_t largest_tag_text = std::size_t{64} << 10;

void add_annotation(tag& to, git_odb* objects, const git_oid& id) {
  const auto bytes = read_tag(objects, id);
  if (!bytes || git_odb_object_type(bytes->get()) != GIT_OBJECT_TAG) return;
  to.is_annotated = true;
  const auto parts =
      parse_tag({static_cast<const char*>(git_odb_object_data(bytes->get())), git_odb_object_size(bytes->get())});
  if (!parts) return;
  auto message = parts->message.substr(0, largest_tag_text);
  while (message.ends_with('\n')) message.remove_suffix(1);
  to.message = to_utf8(message).text;
  if (parts->tagger.empty()) return;
  const auto who = parse_identity(parts->tagger.substr(0, largest_tag_text));
  to.tagger = signature{to_utf8(who.name).text, to_utf8(who.email).text, who.time, who.offset};
}

std::optional<tag> tag_at(git_repository* in, git_odb* objects, const std::string& name) {
  const auto target = follow_reference(in, name);
  git_error_clear();
  if (!target || !target->id) return std::nullopt;
  tag one;
  one.full_name = name;
  one.name = name.substr(std::string_view(tag_prefix).size());
  one.target = *target->id;
  std::size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&size, &kind, objects, &*target->id) == 0 && kind == GIT_OBJECT_TAG)
    add_annotation(one, objects, *target->id);
  if (const auto end = behind_tags(objects, *target->id)) {
    one.target = end->id;
    one.kind = git_object_type2string(end->kind);
  }
  return one;
}

}  // namespace

result<reference_page<tag>> tags(git_repository* in, const std::string& after, std::size_t limit) {
  auto names = names_behind(in, {tag_prefix}, after, limit);
  if (!names) return tl::unexpected(std::move(names.error()));
  HONDANA_TRY(const auto objects, objects_of(in));
  reference_page<tag> page;
  for (const auto& name : names->names)
    if (auto one = tag_at(in, objects.get(), name)) page.items.push_back(std::move(*one));
  if (!names->is_last) page.next = names->names.empty() ? after : names->names.back();
  return page;
}

namespace {

constexpr std::size_t largest_stash_log = std::size_t{16} << 20;

/// Parses `OLD NEW Name <email> 1700000000 +0900<tab>message`. False if it is malformed.
bool read_stash(std::string_view line, stash& into) {
  constexpr std::size_t ids = 2 * (GIT_OID_HEXSZ + 1);
  if (line.size() < ids || git_oid_fromstrn(&into.commit, line.data() + GIT_OID_HEXSZ + 1, GIT_OID_HEXSZ) < 0) return false;
  line.remove_prefix(ids);
  const auto tab = line.find('\t');
  into.time = parse_identity(line.substr(0, tab)).time;
  if (tab != std::string_view::npos) into.message = to_utf8(line.substr(tab + 1)).text;
  return true;
}

}  // namespace

result<std::vector<stash>> stashes(git_repository* in, std::size_t limit) {
  const std::string folder = git_repository_commondir(in);
  const auto log = enclosure({folder}).read(folder + "/logs/refs/stash", largest_stash_log);
  if (!log && log.error() == astray::missing) return std::vector<stash>();
  if (!log)
    return fail(log.error() == astray::too_large ? errc::response_too_large : errc::source_unavailable,
                "the list of stashes " + std::string(text_of(log.error())) + ". Run `git stash list` for details.");
  std::vector<stash> found;
  std::string_view rest = *log;
  for (std::size_t index = 0; !rest.empty() && found.size() < limit; ++index) {
    // The newest stash is the last line.
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    const auto begin = rest.rfind('\n') + 1;  // 0 where there is none
    stash one;
    one.index = index;
    if (read_stash(rest.substr(begin), one)) found.push_back(std::move(one));
    rest = rest.substr(0, begin);
  }
  return found;
}

namespace {

constexpr std::size_t most_work_trees = 1000;
constexpr std::size_t longest_pointer_file = 4096;
constexpr std::string_view head_label = "ref: ", heads_prefix = "refs/heads/";

std::string_view trimmed_end(std::string_view text) noexcept {
  while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Reads the HEAD of another work tree: a branch, or an id.
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
    std::error_code gone;  // an entry that was deleted meanwhile is skipped
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

namespace {

constexpr std::string_view local_repository = "a local repository";

bool is_port(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view behind_user(std::string_view host_and_more) noexcept {
  const auto host = host_and_more.substr(0, host_and_more.find_first_of("/?#"));
  auto at = host.rfind('@');
  // A password that contains one of these characters, unescaped, extends beyond the apparent host.
  if (at == std::string_view::npos && !host.starts_with('[') && host.find(':') != std::string_view::npos &&
      !is_port(host.substr(host.rfind(':') + 1)))
    at = host_and_more.rfind('@');
  return at == std::string_view::npos ? host_and_more : host_and_more.substr(at + 1);
}

}  // namespace

std::string without_credentials(std::string_view url) {
  constexpr std::string_view mark = "://";
  if (const auto scheme = url.find(mark); scheme != std::string_view::npos) {
    const auto rest = behind_user(url.substr(scheme + mark.size()));
    return shown_path_of(url.substr(0, scheme + mark.size())) + shown_path_of(rest.substr(0, rest.find_first_of("?#")));
  }
  // `user@host:path`, as ssh accepts it. Anything else is a path.
  const auto host = url.substr(0, url.find('/'));
  if (const auto at = host.rfind('@'); at != std::string_view::npos && host.find(':') != std::string_view::npos)
    url.remove_prefix(at + 1);
  return shown_path_of(url);
}

std::string told_address(std::string_view url) {
  // `host:path` is not a local path, unless a slash comes first.
  const auto first = url.find_first_of(":/");
  // The name of a remote helper precedes `::`. Only the helper knows what the rest means.
  if (first != std::string_view::npos && first > 0 && url.substr(first).starts_with("::") && url.front() != '[') {
    const auto rest = told_address(url.substr(first + 2));
    if (rest == local_repository) return rest;
  }
  const bool is_path = first == std::string_view::npos || url[first] == '/';
  if (is_path || ascii::is_same(url.substr(0, first), "file")) return std::string(local_repository);
  return without_credentials(url);
}

result<std::vector<remote>> remotes(git_repository* in) {
  constexpr std::string_view section = "remote.", key = ".url";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, in); code < 0)
    return failed("the repository's remotes cannot be read from its configuration");
  const config_pointer config(raw);
  git_config_iterator* raw_walk = nullptr;
  if (const int code = git_config_iterator_new(&raw_walk, raw); code < 0)
    return failed("the repository's remotes cannot be read from its configuration");
  const std::unique_ptr<git_config_iterator, frees<git_config_iterator_free>> walk(raw_walk);
  // Of several URLs, git fetches from the first one.
  std::map<std::string, std::string> urls;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_walk) == 0) {
    const std::string_view name = entry->name;
    if (!name.starts_with(section) || !name.ends_with(key) || name.size() <= section.size() + key.size() ||
        entry->value == nullptr)
      continue;
    urls.emplace(shown_path_of(name.substr(section.size(), name.size() - section.size() - key.size())),
                 told_address(entry->value));
  }
  git_error_clear();
  std::vector<remote> found;
  found.reserve(urls.size());
  for (auto& [name, url] : urls) found.push_back({name, std::move(url)});
  return found;
}

}  // namespace hondana::git
