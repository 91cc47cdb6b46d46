/// The view of a repository as a whole.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/changes.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/comparison_limits.hpp"
#include "sources/git/history.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/people.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/text.hpp"

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
  std::string unknown;  // why the state of the work tree is not known
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

}  // namespace hondana::git
