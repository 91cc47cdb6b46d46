/// The views of a commit, of a diff between two revisions, and of the changes in a work tree.

#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/change_list.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/history.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

result<tree_pointer> load_tree(git_repository* repo, const git_oid& id) {
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, repo, &id) < 0)
    return fail(errc::source_unavailable,
                "The tree " + to_hex(id) +
                    " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.",
                last_error_message());
  return tree_pointer(raw);
}

std::string diff_markdown(const view_request& request, const revision& from_revision, const revision& to_revision,
                          const change_list& changes) {
  const auto& target = request.target;
  std::string out = "# From " + code_span(target.from_rev) + " to " + code_span(target.to_rev) +
                    "\n\n- From: " + commit_link(target.repo, from_revision.commit) +
                    "\n- To: " + commit_link(target.repo, to_revision.commit) + '\n';
  if (!target.path.empty()) out += "- Only: " + code_span(display_path(target.path)) + '\n';
  auto whole = target;
  whole.path.clear();
  out += '\n';
  changes.append_markdown(out, "Read one file or folder with `" + uri_of(whole) + "?path=PATH`, or read it as blob/REV/PATH.");
  return out;
}

std::string diff_json(const view_request& request, const revision& from_revision, const revision& to_revision,
                      const change_list& changes) {
  std::string out;
  json::writer writer(out);
  writer.begin_object()
      .member("repository", request.target.repo)
      .member("from", to_hex(from_revision.commit))
      .member("to", to_hex(to_revision.commit));
  writer.member_if("path", display_path(request.target.path));
  changes.write(writer.key("changes"));
  if (changes.secret_count() > 0) writer.key("changesLeftOut").unsigned_integer(changes.secret_count());
  writer.end_object();
  return out;
}

}  // namespace

result<std::vector<change>> compare_trees(const view_request& request, const std::optional<git_oid>& old_id,
                                          const git_oid& new_id) {
  tree_pointer old_tree;
  if (old_id) {
    HONDANA_TRY(auto opened, load_tree(request.repo, *old_id));
    old_tree = std::move(opened);
  }
  HONDANA_TRY(const auto new_tree, load_tree(request.repo, new_id));
  compare_options options;
  if (!request.target.path.empty()) options.paths.push_back(request.target.path);
  options.max_rename_bytes = max_compared_file_bytes;
  options.is_stopped = request.is_stopped;
  // A description needs only the set of changed files.
  options.detects_renames = !request.is_description;
  auto changes = compare(request.repo, old_tree.get(), new_tree.get(), options);
  if (!changes) return changes;
  const auto folder_of = [](std::string_view path) {
    return path.substr(0, path.find('/') == path.npos ? 0 : path.rfind('/'));
  };
  auto& ignored = request.visibility.ignored();
  cancellation_checker cancellation(request.is_stopped);
  for (const auto& change : *changes) {
    HONDANA_TRY(cancellation.step());
    for (const auto* side : {&change.old_side, &change.new_side}) ignored.load_folder(folder_of(side->path));
    if (const auto& error = ignored.error()) return tl::unexpected(*error);
  }
  return changes;
}

result<rendering> render_diff(const view_request& request) {
  HONDANA_TRY(const auto from_revision, resolve_revision(request.repo, request.target.from_rev, "from"));
  HONDANA_TRY(const auto to_revision, resolve_revision(request.repo, request.target.to_rev, "to"));
  auto rendered = make_rendering(request);
  rendered.is_fixed = from_revision.is_fixed && to_revision.is_fixed;
  HONDANA_TRY(const auto compared, compare_trees(request, from_revision.tree, to_revision.tree));
  rendered.version =
      version_with_visibility(version_of({to_hex(from_revision.commit), to_hex(from_revision.tree), to_hex(to_revision.commit),
                                          to_hex(to_revision.tree), request.target.path, request.target.is_json ? "json" : ""}),
                              request);
  if (request.is_satisfied_by(rendered.version)) return rendered;
  change_list changes(request, to_hex(to_revision.commit));
  HONDANA_TRY(changes.add(compared));
  rendered.text = request.target.is_json ? diff_json(request, from_revision, to_revision, changes)
                                         : diff_markdown(request, from_revision, to_revision, changes);
  changes.describe(rendered);
  return rendered;
}

namespace {

std::string person_line(std::string_view role, const visibility_filter& visibility, const signature& person) {
  const auto masked = masked_person(visibility, person);
  return "- " + std::string(role) + ": " + escape_markdown(masked.name) + " (" + code_span(masked.email) + "), " +
         format_time(masked) + '\n';
}

class commit_view {
 public:
  commit_view(const view_request& request, const commit_metadata& commit, const change_list& changes, bool has_parents)
      : request_(request), commit_(commit), changes_(changes), has_parents_(has_parents) {}

  std::string markdown() const {
    const auto& slug = request_.target.repo;
    const auto id = to_hex(commit_.id);
    std::string out = "# Commit `" + id + "`\n\n" + person_line("Author", request_.visibility, commit_.author) +
                      person_line("Committer", request_.visibility, commit_.committer);
    for (const auto& parent : commit_.parents) out += "- Parent: " + commit_link(slug, parent) + '\n';
    out += "- Files: " + markdown_link("tree", uri_of({.repo = slug, .kind = resource_kind::tree, .rev = id})) + '\n';
    if (!commit_.encoding.empty()) out += "- Original encoding of the message: " + escape_markdown(commit_.encoding) + '\n';
    out += "\n## Message\n\n" + code_block(full_message(request_.visibility, commit_), "text");
    if (commit_.omitted_bytes > 0)
      out += "\n" + std::to_string(commit_.omitted_bytes) + " bytes of the message are left out.\n";
    out += "\n## Changes\n\n";
    if (commit_.parents.size() > 1) out += "A merge. Differences from its first parent:\n\n";
    if (!commit_.parents.empty() && !has_parents_)
      out += "This shallow clone does not have its parents, so all files are shown as new:\n\n";
    changes_.append_markdown(out, advice());
    return out;
  }

  std::string json() const {
    std::string out;
    json::writer writer(out);
    writer.begin_object().member("repository", request_.target.repo);
    write_commit(writer, request_.visibility, request_.target.repo, commit_);
    changes_.write(writer.key("changes"));
    if (changes_.secret_count() > 0) writer.key("changesLeftOut").unsigned_integer(changes_.secret_count());
    writer.end_object();
    return out;
  }

 private:
  /// A diff needs another commit, which a first commit does not have.
  std::string advice() const {
    if (!has_parents_) return "Read its files from the tree.";
    const auto diff_uri = uri_of({.repo = request_.target.repo,
                                  .kind = resource_kind::diff,
                                  .from_rev = to_hex(commit_.parents.front()),
                                  .to_rev = to_hex(commit_.id)});
    return "Read one file or folder with `" + diff_uri + "?path=PATH`.";
  }

  const view_request& request_;
  const commit_metadata& commit_;
  const change_list& changes_;
  const bool has_parents_;
};

}  // namespace

result<rendering> render_commit(const view_request& request) {
  HONDANA_TRY(const auto rev, resolve_revision(request.repo, request.target.rev, "rev"));
  HONDANA_TRY(const auto store, commit_store::open(request.repo));
  auto rendered = make_rendering(request);
  const auto id = to_hex(rev.commit);
  rendered.is_fixed = rev.is_fixed && store.stamp().empty();
  HONDANA_TRY(const auto node, store.read(rev.commit));
  std::optional<git_oid> parent_tree;
  if (!node.parents.empty()) {
    HONDANA_TRY(const auto parent, store.read(node.parents.front()));
    parent_tree = parent.tree;
  }
  HONDANA_TRY(const auto compared, compare_trees(request, parent_tree, node.tree));
  rendered.version = version_with_visibility(id + store.stamp() + ".commit" + (request.target.is_json ? ".json" : ""), request);
  if (request.is_satisfied_by(rendered.version)) return rendered;

  HONDANA_TRY(const auto commit, read_commit_metadata(store, rev.commit));
  change_list changes(request, id);
  HONDANA_TRY(changes.add(compared));
  const commit_view view(request, commit, changes, parent_tree.has_value());
  rendered.text = request.target.is_json ? view.json() : view.markdown();
  changes.describe(rendered);
  return rendered;
}

namespace {

constexpr std::size_t max_listed_paths = 1000;

/// Paths of which only the names are shown.
struct path_list {
  std::vector<std::string> visible;
  std::size_t secret_count = 0;  // number of those left out

  [[nodiscard]] bool is_empty() const noexcept { return visible.empty() && secret_count == 0; }
};

struct sections {
  change_list staged, unstaged;
  path_list conflicted, untracked;
  std::size_t unreadable = 0;

  [[nodiscard]] bool is_empty() const {
    return staged.is_empty() && unstaged.is_empty() && conflicted.is_empty() && untracked.is_empty() && unreadable == 0;
  }
};

path_list filter_paths(const view_request& request, const std::vector<std::string>& paths) {
  path_list out;
  for (const auto& entry : paths) {
    const bool is_folder = entry.ends_with('/');
    const auto path = is_folder ? entry.substr(0, entry.size() - 1) : entry;
    if (!request.visibility.hidden_reason(path, is_folder).empty()) {
      if (request.visibility.allows_file("HEAD", path) && !request.is_requested_by_name(path)) ++out.secret_count;
    } else if (request.visibility.shows_file("HEAD", path)) {
      out.visible.push_back(entry);
    }
  }
  return out;
}

void append_paths(std::string& out, const std::string& title, const path_list& paths) {
  if (paths.is_empty()) return;
  out += "## " + title + "\n\n";
  for (std::size_t i = 0; i < paths.visible.size() && i < max_listed_paths; ++i)
    out += "- " + code_span(display_path(paths.visible[i])) + '\n';
  if (paths.visible.size() > max_listed_paths)
    out += "- and " + std::to_string(paths.visible.size() - max_listed_paths) + " more\n";
  if (paths.secret_count > 0) out += secrets_line(paths.secret_count);
  out += '\n';
}

void write_paths(json::writer& writer, const std::string& name, const path_list& paths) {
  writer.key(name).begin_array();
  for (const auto& path : paths.visible) writer.string(display_path(path));
  writer.end_array();
  if (paths.secret_count > 0) writer.key(name + "LeftOut").unsigned_integer(paths.secret_count);
}

std::string changes_markdown(const view_request& request, const sections& parts) {
  std::string out = "# Uncommitted changes of " + request.target.repo + "\n\n";
  if (!request.target.path.empty()) out += "Only " + code_span(display_path(request.target.path)) + ".\n\n";
  if (parts.is_empty()) return out + "None.\n";
  const auto advice =
      "Read one file or folder with `" + uri_of({.repo = request.target.repo, .kind = resource_kind::changes}) + "?path=PATH`.";
  append_paths(out, "In conflict", parts.conflicted);
  for (const auto& [title, list] : {std::pair("Staged", &parts.staged), std::pair("Not staged", &parts.unstaged)}) {
    if (list->is_empty()) continue;
    out += "## " + std::string(title) + "\n\n";
    list->append_markdown(out, advice);
    out += '\n';
  }
  append_paths(out, "Untracked", parts.untracked);
  if (parts.unreadable > 0)
    out += std::to_string(parts.unreadable) + " could not be read: the operating system denied access.\n";
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string changes_json(const view_request& request, const sections& parts) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("repository", request.target.repo).member_if("path", display_path(request.target.path));
  for (const auto& [name, list] : {std::pair("staged", &parts.staged), std::pair("unstaged", &parts.unstaged)}) {
    list->write(writer.key(name));
    if (list->secret_count() > 0) writer.key(std::string(name) + "LeftOut").unsigned_integer(list->secret_count());
  }
  write_paths(writer, "conflicted", parts.conflicted);
  write_paths(writer, "untracked", parts.untracked);
  if (parts.unreadable > 0) writer.key("unreadable").unsigned_integer(parts.unreadable);
  writer.end_object();
  return out;
}

}  // namespace

result<rendering> render_changes(const view_request& request) {
  auto rendered = make_rendering(request);
  rendered.ttl = std::chrono::milliseconds(0);
  compare_options options;
  if (!request.target.path.empty()) options.paths.push_back(request.target.path);
  options.max_rename_bytes = max_compared_file_bytes;
  options.is_stopped = request.is_stopped;
  HONDANA_TRY(const auto changes, compare_work_tree(request.repo, options));
  // In URIs, files of the work tree are represented by the commit that is checked out.
  sections parts{change_list(request, "HEAD"), change_list(request, "HEAD"), {}, {}, 0};
  HONDANA_TRY(parts.staged.add(changes.staged));
  HONDANA_TRY(parts.unstaged.add(changes.unstaged));
  parts.conflicted = filter_paths(request, changes.conflicted);
  parts.untracked = filter_paths(request, changes.untracked);
  const auto unreadable = filter_paths(request, changes.unreadable);
  parts.unreadable = unreadable.visible.size() + unreadable.secret_count;
  rendered.text = request.target.is_json ? changes_json(request, parts) : changes_markdown(request, parts);
  if (const auto masked = parts.staged.masked_count() + parts.unstaged.masked_count(); masked > 0)
    rendered.metadata.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(masked));
  set_version_by_text(rendered, request);
  return rendered;
}

}  // namespace hondana::git
