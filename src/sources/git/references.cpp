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

std::string current_operation(git_repository* repo) {
  switch (git_repository_state(repo)) {
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

result<head_state> head_of(git_repository* repo) {
  constexpr std::string_view branch_prefix = "refs/heads/";
  auto target = resolve_reference(repo, "HEAD");
  git_error_clear();
  if (!target || (target->name == "HEAD" && !target->id))
    return fail(errc::source_unavailable,
                !target && target.error() == reference_error::circular
                    ? "HEAD is part of a cycle of references. Run `git symbolic-ref HEAD refs/heads/NAME` to fix it."
                    : "HEAD or the reference that it points to cannot be read. Run `git fsck` for details, or choose another "
                      "branch with `git symbolic-ref HEAD refs/heads/NAME`.");
  head_state state;
  state.commit = target->id;
  if (target->name != "HEAD")
    state.branch =
        target->name.starts_with(branch_prefix) ? target->name.substr(branch_prefix.size()) : std::move(target->name);
  state.operation = current_operation(repo);
  return state;
}

namespace {

constexpr const char* tag_prefix = "refs/tags/";
/// Bytes of a tag's text that are used, which suffices for a list.
constexpr std::size_t max_tag_text_bytes = std::size_t{64} << 10;

void add_annotation(tag& target, git_odb* odb, const git_oid& id) {
  const auto bytes = read_tag(odb, id);
  if (!bytes || git_odb_object_type(bytes->get()) != GIT_OBJECT_TAG) return;
  target.is_annotated = true;
  const auto parts =
      parse_tag({static_cast<const char*>(git_odb_object_data(bytes->get())), git_odb_object_size(bytes->get())});
  if (!parts) return;
  auto message = parts->message.substr(0, max_tag_text_bytes);
  while (message.ends_with('\n')) message.remove_suffix(1);
  target.message = to_utf8(message).text;
  if (parts->tagger.empty()) return;
  const auto tagger = parse_identity(parts->tagger.substr(0, max_tag_text_bytes));
  target.tagger = signature{to_utf8(tagger.name).text, to_utf8(tagger.email).text, tagger.time, tagger.offset};
}

std::optional<tag> read_tag_entry(git_repository* repo, git_odb* odb, const std::string& name) {
  const auto target = resolve_reference(repo, name);
  git_error_clear();
  if (!target || !target->id) return std::nullopt;
  tag entry;
  entry.full_name = name;
  entry.name = name.substr(std::string_view(tag_prefix).size());
  entry.target = *target->id;
  std::size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&size, &kind, odb, &*target->id) == 0 && kind == GIT_OBJECT_TAG)
    add_annotation(entry, odb, *target->id);
  if (const auto peeled = peel_tags(odb, *target->id)) {
    entry.target = peeled->id;
    entry.kind = git_object_type2string(peeled->kind);
  }
  return entry;
}

}  // namespace

result<reference_page<tag>> tags(git_repository* repo, const std::string& start_after, std::size_t limit) {
  auto names = list_names(repo, {tag_prefix}, start_after, limit);
  if (!names) return tl::unexpected(std::move(names.error()));
  HONDANA_TRY(const auto odb, open_odb(repo));
  reference_page<tag> page;
  for (const auto& name : names->names)
    if (auto entry = read_tag_entry(repo, odb.get(), name)) page.items.push_back(std::move(*entry));
  if (!names->is_last) page.next = names->names.empty() ? start_after : names->names.back();
  return page;
}

namespace {

constexpr std::size_t max_stash_log_bytes = std::size_t{16} << 20;

/// Parses `OLD NEW Name <email> 1700000000 +0900<tab>message`. False if it is malformed.
bool parse_stash(std::string_view line, stash& target) {
  constexpr std::size_t ids_bytes = 2 * (GIT_OID_HEXSZ + 1);
  if (line.size() < ids_bytes || git_oid_fromstrn(&target.commit, line.data() + GIT_OID_HEXSZ + 1, GIT_OID_HEXSZ) < 0)
    return false;
  line.remove_prefix(ids_bytes);
  const auto tab = line.find('\t');
  target.time = parse_identity(line.substr(0, tab)).time;
  if (tab != std::string_view::npos) target.message = to_utf8(line.substr(tab + 1)).text;
  return true;
}

}  // namespace

result<std::vector<stash>> stashes(git_repository* repo, std::size_t limit) {
  const std::string folder = git_repository_commondir(repo);
  const auto log = confined_roots({folder}).read(folder + "/logs/refs/stash", max_stash_log_bytes);
  if (!log && log.error() == path_error::missing) return std::vector<stash>();
  if (!log)
    return fail(log.error() == path_error::too_large ? errc::response_too_large : errc::source_unavailable,
                "the list of stashes " + std::string(message_of(log.error())) + ". Run `git stash list` for details.");
  std::vector<stash> entries;
  std::string_view remaining = *log;
  for (std::size_t index = 0; !remaining.empty() && entries.size() < limit; ++index) {
    // The newest stash is the last line.
    if (remaining.ends_with('\n')) remaining.remove_suffix(1);
    const auto begin = remaining.rfind('\n') + 1;  // 0 where there is none
    stash entry;
    entry.index = index;
    if (parse_stash(remaining.substr(begin), entry)) entries.push_back(std::move(entry));
    remaining = remaining.substr(0, begin);
  }
  return entries;
}

namespace {

constexpr std::size_t max_work_trees = 1000;
constexpr std::size_t max_pointer_bytes = 4096;
constexpr std::string_view symref_prefix = "ref: ", heads_prefix = "refs/heads/";

std::string_view trim_end(std::string_view text) noexcept {
  while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Reads the HEAD of another work tree: a branch, or an id.
void read_head(linked_work_tree& work_tree, git_repository* repo, const confined_roots& confined, const std::string& folder) {
  const auto text = confined.read(folder + "/HEAD", max_pointer_bytes);
  if (!text) return;
  auto line = trim_end(*text);
  if (!line.starts_with(symref_prefix)) {
    if (line.size() == GIT_OID_HEXSZ && git_oid_fromstrn(&work_tree.head, line.data(), line.size()) < 0) work_tree.head = {};
    git_error_clear();
    return;
  }
  line.remove_prefix(symref_prefix.size());
  const auto target = resolve_reference(repo, std::string(line));
  git_error_clear();
  work_tree.branch = line.starts_with(heads_prefix) ? line.substr(heads_prefix.size()) : line;
  if (target && target->id) work_tree.head = *target->id;
}

bool is_bare_by_config(git_repository* repo) {
  git_config* raw = nullptr;
  if (git_repository_config(&raw, repo) < 0) return false;
  const config_pointer config(raw);
  int value = 0;
  const int code = git_config_get_bool(&value, raw, "core.bare");
  git_error_clear();
  return code == 0 && value != 0;
}

std::vector<std::string> subfolder_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (names.size() == max_work_trees) break;
    std::error_code status_error;  // an entry that was deleted meanwhile is skipped
    if (it->symlink_status(status_error).type() == std::filesystem::file_type::directory)
      names.push_back(it->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

result<std::vector<linked_work_tree>> linked_work_trees(git_repository* repo, const std::vector<std::string>& roots) {
  std::string common = git_repository_commondir(repo);
  while (common.ends_with('/')) common.pop_back();
  const confined_roots common_root({common}), confined(roots);
  std::vector<linked_work_tree> entries;
  if (!is_bare_by_config(repo)) {
    linked_work_tree main;
    read_head(main, repo, common_root, common);
    main.is_present = true;
    entries.push_back(std::move(main));
  }
  const auto work_trees_folder = common + "/worktrees";
  const auto real = common_root.resolve_folder(work_trees_folder);
  if (!real && real.error() == path_error::missing) return entries;
  if (!real || *real != work_trees_folder)
    return fail(errc::source_unavailable, "The repository's folder of work trees, .git/worktrees, " +
                                              std::string(real ? "is a link" : message_of(real.error())) +
                                              ", so linked work trees cannot be listed. Make it an ordinary folder.");
  for (auto& name : subfolder_names(work_trees_folder)) {
    const auto folder = work_trees_folder + '/' + name;
    linked_work_tree entry;
    read_head(entry, repo, common_root, folder);
    struct stat attributes{};
    entry.is_locked = ::lstat((folder + "/locked").c_str(), &attributes) == 0;
    if (const auto pointer = common_root.read(folder + "/gitdir", max_pointer_bytes)) {
      const auto target = trim_end(*pointer);
      const auto path = std::filesystem::path(folder).append(target).lexically_normal().string();
      entry.is_outside = !confined.contains(path);
      entry.is_present = !entry.is_outside && confined.resolve_file(path).has_value();
    }
    entry.name = std::move(name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

namespace {

constexpr std::string_view local_repository_text = "a local repository";

bool is_port(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view strip_user_info(std::string_view authority) noexcept {
  const auto host = authority.substr(0, authority.find_first_of("/?#"));
  auto at_sign = host.rfind('@');
  // A password that contains one of these characters, unescaped, extends beyond the apparent host.
  if (at_sign == std::string_view::npos && !host.starts_with('[') && host.find(':') != std::string_view::npos &&
      !is_port(host.substr(host.rfind(':') + 1)))
    at_sign = authority.rfind('@');
  return at_sign == std::string_view::npos ? authority : authority.substr(at_sign + 1);
}

}  // namespace

std::string strip_credentials(std::string_view url) {
  constexpr std::string_view separator = "://";
  if (const auto scheme = url.find(separator); scheme != std::string_view::npos) {
    const auto remaining = strip_user_info(url.substr(scheme + separator.size()));
    return display_path(url.substr(0, scheme + separator.size())) +
           display_path(remaining.substr(0, remaining.find_first_of("?#")));
  }
  // `user@host:path`, as ssh accepts it. Anything else is a path.
  const auto host = url.substr(0, url.find('/'));
  if (const auto at_sign = host.rfind('@'); at_sign != std::string_view::npos && host.find(':') != std::string_view::npos)
    url.remove_prefix(at_sign + 1);
  return display_path(url);
}

std::string display_url(std::string_view url) {
  // `host:path` is not a local path, unless a slash comes first.
  const auto first = url.find_first_of(":/");
  // The name of a remote helper precedes `::`. Only the helper knows what the rest means.
  if (first != std::string_view::npos && first > 0 && url.substr(first).starts_with("::") && url.front() != '[') {
    const auto remaining = display_url(url.substr(first + 2));
    if (remaining == local_repository_text) return remaining;
  }
  const bool is_path = first == std::string_view::npos || url[first] == '/';
  if (is_path || ascii::equals_ignore_case(url.substr(0, first), "file")) return std::string(local_repository_text);
  return strip_credentials(url);
}

result<std::vector<remote>> remotes(git_repository* repo) {
  constexpr std::string_view section = "remote.", key = ".url";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, repo); code < 0)
    return libgit2_failure("the repository's remotes cannot be read from its configuration");
  const config_pointer config(raw);
  git_config_iterator* raw_iterator = nullptr;
  if (const int code = git_config_iterator_new(&raw_iterator, raw); code < 0)
    return libgit2_failure("the repository's remotes cannot be read from its configuration");
  const std::unique_ptr<git_config_iterator, libgit2_deleter<git_config_iterator_free>> iterator(raw_iterator);
  // Of several URLs, git fetches from the first one.
  std::map<std::string, std::string> urls;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_iterator) == 0) {
    const std::string_view name = entry->name;
    if (!name.starts_with(section) || !name.ends_with(key) || name.size() <= section.size() + key.size() ||
        entry->value == nullptr)
      continue;
    urls.emplace(display_path(name.substr(section.size(), name.size() - section.size() - key.size())),
                 display_url(entry->value));
  }
  git_error_clear();
  std::vector<remote> entries;
  entries.reserve(urls.size());
  for (auto& [name, url] : urls) entries.push_back({name, std::move(url)});
  return entries;
}

}  // namespace hondana::git
