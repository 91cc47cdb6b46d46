/// The views of branches, tags, stashes and work trees.
#include <string>
#include <utility>

#include "base/json/writer.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/people.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t a_page = 200;
constexpr std::size_t most_stashes = 1000;

/// Reference names are bytes; URIs keep them, people see them so.
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

/// Each on its line, or each an object, and where it goes on.
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
