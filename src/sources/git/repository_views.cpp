/// The views of a repository: overview, branches, tags, stashes and work trees.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/history.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_latest_commits = 10;

struct work_state {
  std::size_t staged = 0, unstaged = 0, untracked = 0, conflicted = 0, unreadable = 0;
  [[nodiscard]] bool is_clean() const noexcept { return staged + unstaged + untracked + conflicted + unreadable == 0; }
};

struct repository_overview {
  head_state head;
  std::optional<work_state> work_tree;
  std::string unknown_reason;  // why the state of the work tree is unknown
  std::vector<remote> remotes;
  std::vector<commit_metadata> commits;
  bool is_shallow = false;
};

result<void> inspect_work_tree(repository_overview& overview, const view_request& request) {
  if (!request.has_work_tree) return {};
  compare_options options;
  options.max_rename_bytes = max_compared_file_bytes;
  options.is_stopped = request.is_stopped;
  const auto changes = compare_work_tree(request.repo, options);
  if (!changes && changes.error().code == errc::cancelled) return tl::unexpected(changes.error());
  if (!changes) {
    overview.unknown_reason = changes.error().public_text;
  } else {
    overview.work_tree = work_state{changes->staged.size(), changes->unstaged.size(), changes->untracked.size(),
                                    changes->conflicted.size(), changes->unreadable.size()};
  }
  return {};
}

result<repository_overview> collect_overview(const view_request& request) {
  repository_overview overview;
  HONDANA_TRY(auto head, head_of(request.repo));
  overview.head = std::move(head);
  HONDANA_TRY(inspect_work_tree(overview, request));
  HONDANA_TRY(const auto store, commit_store::open(request.repo));
  overview.is_shallow = !store.shallow_stamp().empty();
  HONDANA_TRY(auto remote_list, remotes(request.repo));
  overview.remotes = std::move(remote_list);
  if (!overview.head.commit) return overview;
  log_request query;
  query.start = *overview.head.commit;
  query.limit = max_latest_commits;
  query.is_stopped = request.is_stopped;
  HONDANA_TRY(auto page, read_log(request.repo, query));
  overview.commits = std::move(page.commits);
  return overview;
}

std::string overview_markdown(const view_request& request, const repository_overview& overview) {
  const auto& slug = request.target.repo;
  const auto link = [&](std::string_view label, resource_kind kind) {
    return markdown_link(label, uri_of({.repo = slug, .kind = kind}));
  };
  std::string out =
      "# " + slug + "\n\n- Branch: " +
      (overview.head.branch.empty() ? std::string("none (detached HEAD)") : code_span(display_path(overview.head.branch)));
  out += overview.head.commit ? ", at " + commit_link(slug, *overview.head.commit) + '\n' : ", no commits yet\n";
  if (!overview.head.operation.empty()) out += "- In progress: " + escape_markdown(overview.head.operation) + '\n';
  if (!request.has_work_tree) out += "- Bare: it has no work tree\n";
  if (overview.work_tree && overview.work_tree->is_clean()) out += "- Work tree: clean\n";
  if (overview.work_tree && !overview.work_tree->is_clean())
    out += "- Work tree: " + std::to_string(overview.work_tree->staged) + " staged, " +
           std::to_string(overview.work_tree->unstaged) + " not staged, " + std::to_string(overview.work_tree->untracked) +
           " untracked" +
           (overview.work_tree->conflicted > 0 ? ", " + std::to_string(overview.work_tree->conflicted) + " in conflict" : "") +
           (overview.work_tree->unreadable > 0 ? ", " + std::to_string(overview.work_tree->unreadable) + " could not be read"
                                               : "") +
           " (" + link("changes", resource_kind::changes) + ")\n";
  if (!overview.unknown_reason.empty()) out += "- Work tree: unknown. " + escape_markdown(overview.unknown_reason) + '\n';
  if (overview.is_shallow) out += "- Shallow: the history ends where the clone was cut off\n";
  for (const auto& remote : overview.remotes) out += "- Remote " + code_span(remote.name) + ": " + code_span(remote.url) + '\n';
  out += "- More: " + link("branches", resource_kind::branches) + ", " + link("tags", resource_kind::tags) + ", " +
         link("log", resource_kind::log) + ", " + link("stashes", resource_kind::stashes) + ", " +
         link("work trees", resource_kind::worktrees);
  if (overview.head.commit)
    out += ", " + markdown_link("files", uri_of({.repo = slug, .kind = resource_kind::tree, .rev = "HEAD"}));
  out += "\n\n## Latest commits\n\n";
  for (const auto& commit : overview.commits) out += commit_line(request.visibility, slug, commit);
  if (overview.commits.empty()) out += "None.\n";
  return out;
}

std::string overview_json(const view_request& request, const repository_overview& overview) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("repository", request.target.repo).member_if("branch", display_path(overview.head.branch));
  if (overview.head.commit) writer.member("commit", to_hex(*overview.head.commit));
  writer.member_if("underWay", overview.head.operation).key("bare").boolean(!request.has_work_tree);
  writer.key("shallow").boolean(overview.is_shallow);
  if (overview.work_tree) {
    writer.key("changes").begin_object().key("staged").unsigned_integer(overview.work_tree->staged);
    writer.key("unstaged")
        .unsigned_integer(overview.work_tree->unstaged)
        .key("untracked")
        .unsigned_integer(overview.work_tree->untracked);
    writer.key("conflicted").unsigned_integer(overview.work_tree->conflicted);
    if (overview.work_tree->unreadable > 0) writer.key("unreadable").unsigned_integer(overview.work_tree->unreadable);
    writer.end_object();
  }
  writer.member_if("changesUnknown", overview.unknown_reason).key("remotes").begin_array();
  for (const auto& remote : overview.remotes)
    writer.begin_object().member("name", remote.name).member("url", remote.url).end_object();
  writer.end_array().key("commits").begin_array();
  for (const auto& commit : overview.commits) {
    write_commit(writer.begin_object(), request.visibility, request.target.repo, commit);
    writer.end_object();
  }
  writer.end_array().end_object();
  return out;
}

}  // namespace

result<rendering> render_overview(const view_request& request) {
  HONDANA_TRY(const auto overview, collect_overview(request));
  auto rendered = make_rendering(request);
  if (request.has_work_tree) rendered.ttl = std::chrono::milliseconds(0);
  rendered.text = request.target.is_json ? overview_json(request, overview) : overview_markdown(request, overview);
  set_version_by_text(rendered, request);
  return rendered;
}

namespace {

constexpr std::size_t entries_per_page = 200;
constexpr std::size_t max_stashes = 1000;

/// A reference name for people. Names are bytes, and URIs preserve them.
std::string display_name(const std::string& name) { return code_span(display_path(name)); }

std::string next_page_uri(const view_request& request, const std::optional<std::string>& cursor) {
  if (!cursor) return {};
  auto next = request.target;
  next.cursor = *cursor;
  return uri_of(next);
}

std::string log_uri(const view_request& request, const std::string& ref) {
  return uri_of({.repo = request.target.repo, .kind = resource_kind::log, .ref = ref, .is_json = request.target.is_json});
}

std::string upstream_distance(const branch& branch) {
  if (!branch.ahead_behind) return "far from " + display_name(branch.upstream);
  const auto [ahead, behind] = *branch.ahead_behind;
  if (ahead == 0 && behind == 0) return "up to date with " + display_name(branch.upstream);
  return std::to_string(ahead) + " ahead of and " + std::to_string(behind) + " behind " + display_name(branch.upstream);
}

void append_item(std::string& text, const view_request& request, const branch& entry) {
  text += "- " + std::string(entry.is_head ? "**checked out** " : "") +
          markdown_link(display_name(entry.name), log_uri(request, entry.full_name)) + (entry.is_remote ? " (remote)" : "");
  if (!entry.upstream.empty()) text += ", " + upstream_distance(entry);
  text += ": " + commit_link(request.target.repo, entry.target) + ' ' + format_time(entry.author) + ' ' +
          escape_markdown(masked_person(request.visibility, entry.author).name) + ": " +
          escape_markdown(request.visibility.masked_message(entry.summary)) + '\n';
}

void write_item(json::writer& writer, const view_request& request, const branch& entry) {
  writer.begin_object().member("name", display_path(entry.name)).member("fullName", display_path(entry.full_name));
  writer.key("remote").boolean(entry.is_remote).key("checkedOut").boolean(entry.is_head).member("commit", to_hex(entry.target));
  writer.member_if("upstream", display_path(entry.upstream));
  if (entry.ahead_behind) {
    writer.key("ahead").unsigned_integer(entry.ahead_behind->first).key("behind").unsigned_integer(entry.ahead_behind->second);
  }
  writer.member("subject", request.visibility.masked_message(entry.summary));
  write_person(writer.key("author"), request.visibility, entry.author);
  writer.member("log", log_uri(request, entry.full_name)).end_object();
}

void append_item(std::string& text, const view_request& request, const tag& entry) {
  text += "- " + display_name(entry.name) + ": ";
  if (entry.kind == "commit") {
    text += commit_link(request.target.repo, entry.target);
  } else {
    text += escape_markdown(entry.kind.empty() ? "unreadable object" : entry.kind) + " `" + to_hex(entry.target) + '`';
  }
  if (entry.tagger)
    text += ' ' + format_time(*entry.tagger) + ' ' + escape_markdown(masked_person(request.visibility, *entry.tagger).name);
  if (!entry.message.empty()) {
    const auto message = request.visibility.masked_message(entry.message);
    text += ": " + escape_markdown(std::string_view(message).substr(0, message.find('\n')));
  }
  text += '\n';
}

void write_item(json::writer& writer, const view_request& request, const tag& entry) {
  writer.begin_object()
      .member("name", display_path(entry.name))
      .member("target", to_hex(entry.target))
      .member_if("kind", entry.kind);
  writer.key("annotated").boolean(entry.is_annotated).member_if("message", request.visibility.masked_message(entry.message));
  if (entry.tagger) write_person(writer.key("tagger"), request.visibility, *entry.tagger);
  writer.end_object();
}

void append_item(std::string& text, const view_request& request, const stash& entry) {
  text += "- " + commit_link(request.target.repo, entry.commit) + " `stash@{" + std::to_string(entry.index) + "}` " +
          format_time(entry.time) + ": " + escape_markdown(request.visibility.masked_message(entry.message)) + '\n';
}

void write_item(json::writer& writer, const view_request& request, const stash& entry) {
  writer.begin_object().key("index").unsigned_integer(entry.index).member("commit", to_hex(entry.commit));
  writer.member("message", request.visibility.masked_message(entry.message)).member("time", format_time(entry.time));
  writer.member("uri", commit_uri(request.target.repo, entry.commit, true)).end_object();
}

void append_item(std::string& text, const view_request& request, const linked_work_tree& entry) {
  text += "- " + (entry.name.empty() ? std::string("main work tree") : display_name(entry.name)) + ": " +
          (entry.branch.empty() ? std::string("no branch") : display_name(entry.branch));
  if (git_oid_is_zero(&entry.head) == 0) text += " at " + commit_link(request.target.repo, entry.head);
  if (entry.is_locked) text += ", locked";
  if (entry.is_outside) {
    text += ", in a folder that is not served";
  } else if (!entry.is_present) {
    text += ", its folder is missing";
  }
  text += '\n';
}

void write_item(json::writer& writer, const view_request&, const linked_work_tree& entry) {
  writer.begin_object().member("name", display_path(entry.name)).member_if("branch", display_path(entry.branch));
  if (git_oid_is_zero(&entry.head) == 0) writer.member("commit", to_hex(entry.head));
  writer.key("locked").boolean(entry.is_locked).key("served").boolean(!entry.is_outside);
  if (!entry.is_outside) writer.key("present").boolean(entry.is_present);
  writer.end_object();
}

/// Renders each item as a line or as an object, and a link to the next page.
template <class T>
rendering render_list(const view_request& request, std::string_view title, const std::vector<T>& items,
                      const std::string& next) {
  auto rendered = make_rendering(request);
  std::string out;
  if (request.target.is_json) {
    json::writer writer(out);
    writer.begin_object().member("repository", request.target.repo).key(name_of(request.target.kind)).begin_array();
    for (const auto& item : items) write_item(writer, request, item);
    writer.end_array().member_if("next", next).end_object();
  } else {
    out = "# " + std::string(title) + " of " + request.target.repo + "\n\n";
    for (const auto& item : items) append_item(out, request, item);
    if (items.empty()) out += "None.\n";
    if (!next.empty()) out += '\n' + markdown_link("More", next) + '\n';
  }
  rendered.text = std::move(out);
  set_version_by_text(rendered, request);
  return rendered;
}

}  // namespace

result<rendering> render_branches(const view_request& request) {
  HONDANA_TRY(const auto page, branches(request.repo, request.target.cursor, entries_per_page));
  return render_list(request, "Branches", page.items, next_page_uri(request, page.next));
}

result<rendering> render_tags(const view_request& request) {
  HONDANA_TRY(const auto page, tags(request.repo, request.target.cursor, entries_per_page));
  return render_list(request, "Tags", page.items, next_page_uri(request, page.next));
}

result<rendering> render_stashes(const view_request& request) {
  HONDANA_TRY(const auto entries, stashes(request.repo, max_stashes));
  return render_list(request, "Stashes", entries, {});
}

result<rendering> render_worktrees(const view_request& request) {
  HONDANA_TRY(const auto entries, linked_work_trees(request.repo, request.roots));
  return render_list(request, "Work trees", entries, {});
}

}  // namespace hondana::git
