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

constexpr std::size_t latest = 10;

struct work_state {
  std::size_t staged = 0, unstaged = 0, untracked = 0, conflicted = 0, unreadable = 0;
  [[nodiscard]] bool is_clean() const noexcept { return staged + unstaged + untracked + conflicted + unreadable == 0; }
};

struct facts {
  head_state head;
  std::optional<work_state> work;
  std::string unknown;  // why the state of the work tree is unknown
  std::vector<remote> remotes;
  std::vector<commit_facts> commits;
  bool is_shallow = false;
};

result<void> look_at_work_tree(facts& into, const asking& what) {
  if (!what.has_work_tree) return {};
  compare_options with;
  with.largest_renamed = largest_compared_file;
  with.is_stopped = what.is_stopped;
  const auto found = compare_work_tree(what.in, with);
  if (!found && found.error().code == errc::cancelled) return tl::unexpected(found.error());
  if (!found) {
    into.unknown = found.error().public_text;
  } else {
    into.work = work_state{found->staged.size(), found->unstaged.size(), found->untracked.size(), found->conflicted.size(),
                           found->unreadable.size()};
  }
  return {};
}

result<facts> gather(const asking& what) {
  facts all;
  HONDANA_TRY(auto head, head_of(what.in));
  all.head = std::move(head);
  HONDANA_TRY(look_at_work_tree(all, what));
  HONDANA_TRY(const auto store, commit_store::open(what.in));
  all.is_shallow = !store.shallow_stamp().empty();
  HONDANA_TRY(auto found, remotes(what.in));
  all.remotes = std::move(found);
  if (!all.head.commit) return all;
  log_request request;
  request.from = *all.head.commit;
  request.limit = latest;
  request.is_stopped = what.is_stopped;
  HONDANA_TRY(auto page, log(what.in, request));
  all.commits = std::move(page.commits);
  return all;
}

std::string markdown_of(const asking& what, const facts& all) {
  const auto& repo = what.at.repo;
  const auto link = [&](std::string_view label, topic to) { return link_to(label, uri_of({.repo = repo, .what = to})); };
  std::string out = "# " + repo + "\n\n- Branch: " +
                    (all.head.branch.empty() ? std::string("none (detached HEAD)") : code(shown_path_of(all.head.branch)));
  out += all.head.commit ? ", at " + commit_link(repo, *all.head.commit) + '\n' : ", no commits yet\n";
  if (!all.head.operation.empty()) out += "- In progress: " + escaped(all.head.operation) + '\n';
  if (!what.has_work_tree) out += "- Bare: it has no work tree\n";
  if (all.work && all.work->is_clean()) out += "- Work tree: clean\n";
  if (all.work && !all.work->is_clean())
    out += "- Work tree: " + std::to_string(all.work->staged) + " staged, " + std::to_string(all.work->unstaged) +
           " not staged, " + std::to_string(all.work->untracked) + " untracked" +
           (all.work->conflicted > 0 ? ", " + std::to_string(all.work->conflicted) + " in conflict" : "") +
           (all.work->unreadable > 0 ? ", " + std::to_string(all.work->unreadable) + " could not be read" : "") + " (" +
           link("changes", topic::changes) + ")\n";
  if (!all.unknown.empty()) out += "- Work tree: unknown. " + escaped(all.unknown) + '\n';
  if (all.is_shallow) out += "- Shallow: the history ends where the clone was cut off\n";
  for (const auto& one : all.remotes) out += "- Remote " + code(one.name) + ": " + code(one.url) + '\n';
  out += "- More: " + link("branches", topic::branches) + ", " + link("tags", topic::tags) + ", " + link("log", topic::log) +
         ", " + link("stashes", topic::stashes) + ", " + link("work trees", topic::worktrees);
  if (all.head.commit) out += ", " + link_to("files", uri_of({.repo = repo, .what = topic::tree, .rev = "HEAD"}));
  out += "\n\n## Latest commits\n\n";
  for (const auto& one : all.commits) out += commit_line(what.hides, repo, one);
  if (all.commits.empty()) out += "None.\n";
  return out;
}

std::string json_of(const asking& what, const facts& all) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("repository", what.at.repo).member_if("branch", shown_path_of(all.head.branch));
  if (all.head.commit) to.member("commit", text_of(*all.head.commit));
  to.member_if("underWay", all.head.operation).key("bare").boolean(!what.has_work_tree);
  to.key("shallow").boolean(all.is_shallow);
  if (all.work) {
    to.key("changes").begin_object().key("staged").unsigned_integer(all.work->staged);
    to.key("unstaged").unsigned_integer(all.work->unstaged).key("untracked").unsigned_integer(all.work->untracked);
    to.key("conflicted").unsigned_integer(all.work->conflicted);
    if (all.work->unreadable > 0) to.key("unreadable").unsigned_integer(all.work->unreadable);
    to.end_object();
  }
  to.member_if("changesUnknown", all.unknown).key("remotes").begin_array();
  for (const auto& one : all.remotes) to.begin_object().member("name", one.name).member("url", one.url).end_object();
  to.end_array().key("commits").begin_array();
  for (const auto& one : all.commits) {
    write_commit(to.begin_object(), what.hides, what.at.repo, one);
    to.end_object();
  }
  to.end_array().end_object();
  return out;
}

}  // namespace

result<rendering> render_overview(const asking& what) {
  HONDANA_TRY(const auto all, gather(what));
  auto made = rendering_for(what);
  if (what.has_work_tree) made.ttl = std::chrono::milliseconds(0);
  made.text = what.at.is_json ? json_of(what, all) : markdown_of(what, all);
  version_by_text(made, what);
  return made;
}

namespace {

constexpr std::size_t a_page = 200;
constexpr std::size_t most_stashes = 1000;

/// A reference name for people. Names are bytes, and URIs preserve them.
std::string name_shown(const std::string& name) { return code(shown_path_of(name)); }

std::string next_page(const asking& what, const std::optional<std::string>& after) {
  if (!after) return {};
  auto next = what.at;
  next.cursor = *after;
  return uri_of(next);
}

std::string log_uri(const asking& what, const std::string& ref) {
  return uri_of({.repo = what.at.repo, .what = topic::log, .ref = ref, .is_json = what.at.is_json});
}

std::string distance_of(const branch& one) {
  if (!one.ahead_behind) return "far from " + name_shown(one.upstream);
  const auto [ahead, behind] = *one.ahead_behind;
  if (ahead == 0 && behind == 0) return "up to date with " + name_shown(one.upstream);
  return std::to_string(ahead) + " ahead of and " + std::to_string(behind) + " behind " + name_shown(one.upstream);
}

void append(std::string& to, const asking& what, const branch& one) {
  to += "- " + std::string(one.is_head ? "**checked out** " : "") +
        link_to(name_shown(one.name), log_uri(what, one.full_name)) + (one.is_remote ? " (remote)" : "");
  if (!one.upstream.empty()) to += ", " + distance_of(one);
  to += ": " + commit_link(what.at.repo, one.target) + ' ' + time_of(one.author) + ' ' +
        escaped(shown_person(what.hides, one.author).name) + ": " + escaped(what.hides.masked_message(one.summary)) + '\n';
}

void write(json::writer& to, const asking& what, const branch& one) {
  to.begin_object().member("name", shown_path_of(one.name)).member("fullName", shown_path_of(one.full_name));
  to.key("remote").boolean(one.is_remote).key("checkedOut").boolean(one.is_head).member("commit", text_of(one.target));
  to.member_if("upstream", shown_path_of(one.upstream));
  if (one.ahead_behind) {
    to.key("ahead").unsigned_integer(one.ahead_behind->first).key("behind").unsigned_integer(one.ahead_behind->second);
  }
  to.member("subject", what.hides.masked_message(one.summary));
  write_person(to.key("author"), what.hides, one.author);
  to.member("log", log_uri(what, one.full_name)).end_object();
}

void append(std::string& to, const asking& what, const tag& one) {
  to += "- " + name_shown(one.name) + ": ";
  if (one.kind == "commit") {
    to += commit_link(what.at.repo, one.target);
  } else {
    to += escaped(one.kind.empty() ? "unreadable object" : one.kind) + " `" + text_of(one.target) + '`';
  }
  if (one.tagger) to += ' ' + time_of(*one.tagger) + ' ' + escaped(shown_person(what.hides, *one.tagger).name);
  if (!one.message.empty()) {
    const auto message = what.hides.masked_message(one.message);
    to += ": " + escaped(std::string_view(message).substr(0, message.find('\n')));
  }
  to += '\n';
}

void write(json::writer& to, const asking& what, const tag& one) {
  to.begin_object().member("name", shown_path_of(one.name)).member("target", text_of(one.target)).member_if("kind", one.kind);
  to.key("annotated").boolean(one.is_annotated).member_if("message", what.hides.masked_message(one.message));
  if (one.tagger) write_person(to.key("tagger"), what.hides, *one.tagger);
  to.end_object();
}

void append(std::string& to, const asking& what, const stash& one) {
  to += "- " + commit_link(what.at.repo, one.commit) + " `stash@{" + std::to_string(one.index) + "}` " + time_of(one.time) +
        ": " + escaped(what.hides.masked_message(one.message)) + '\n';
}

void write(json::writer& to, const asking& what, const stash& one) {
  to.begin_object().key("index").unsigned_integer(one.index).member("commit", text_of(one.commit));
  to.member("message", what.hides.masked_message(one.message)).member("time", time_of(one.time));
  to.member("uri", commit_uri(what.at.repo, one.commit, true)).end_object();
}

void append(std::string& to, const asking& what, const linked_work_tree& one) {
  to += "- " + (one.name.empty() ? std::string("main work tree") : name_shown(one.name)) + ": " +
        (one.branch.empty() ? std::string("no branch") : name_shown(one.branch));
  if (git_oid_is_zero(&one.head) == 0) to += " at " + commit_link(what.at.repo, one.head);
  if (one.is_locked) to += ", locked";
  if (one.is_outside) {
    to += ", in a folder that is not served";
  } else if (!one.is_present) {
    to += ", its folder is missing";
  }
  to += '\n';
}

void write(json::writer& to, const asking&, const linked_work_tree& one) {
  to.begin_object().member("name", shown_path_of(one.name)).member_if("branch", shown_path_of(one.branch));
  if (git_oid_is_zero(&one.head) == 0) to.member("commit", text_of(one.head));
  to.key("locked").boolean(one.is_locked).key("served").boolean(!one.is_outside);
  if (!one.is_outside) to.key("present").boolean(one.is_present);
  to.end_object();
}

/// Renders each item as a line or as an object, and a link to the next page.
template <class T>
rendering listed(const asking& what, std::string_view title, const std::vector<T>& all, const std::string& next) {
  auto made = rendering_for(what);
  std::string out;
  if (what.at.is_json) {
    json::writer to(out);
    to.begin_object().member("repository", what.at.repo).key(name_of(what.at.what)).begin_array();
    for (const auto& one : all) write(to, what, one);
    to.end_array().member_if("next", next).end_object();
  } else {
    out = "# " + std::string(title) + " of " + what.at.repo + "\n\n";
    for (const auto& one : all) append(out, what, one);
    if (all.empty()) out += "None.\n";
    if (!next.empty()) out += '\n' + link_to("More", next) + '\n';
  }
  made.text = std::move(out);
  version_by_text(made, what);
  return made;
}

}  // namespace

result<rendering> render_branches(const asking& what) {
  HONDANA_TRY(const auto page, branches(what.in, what.at.cursor, a_page));
  return listed(what, "Branches", page.items, next_page(what, page.next));
}

result<rendering> render_tags(const asking& what) {
  HONDANA_TRY(const auto page, tags(what.in, what.at.cursor, a_page));
  return listed(what, "Tags", page.items, next_page(what, page.next));
}

result<rendering> render_stashes(const asking& what) {
  HONDANA_TRY(const auto all, stashes(what.in, most_stashes));
  return listed(what, "Stashes", all, {});
}

result<rendering> render_worktrees(const asking& what) {
  HONDANA_TRY(const auto all, linked_work_trees(what.in, what.roots));
  return listed(what, "Work trees", all, {});
}

}  // namespace hondana::git
