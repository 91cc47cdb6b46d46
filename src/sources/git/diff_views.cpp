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

result<tree_pointer> tree_of(git_repository* in, const git_oid& id) {
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, in, &id) < 0)
    return fail(errc::source_unavailable,
                "The tree " + text_of(id) +
                    " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.",
                last_words());
  return tree_pointer(raw);
}

std::string diff_markdown(const asking& what, const revision& from, const revision& to, const change_list& changes) {
  const auto& at = what.at;
  std::string out = "# From " + code(at.from) + " to " + code(at.to) + "\n\n- From: " + commit_link(at.repo, from.commit) +
                    "\n- To: " + commit_link(at.repo, to.commit) + '\n';
  if (!at.path.empty()) out += "- Only: " + code(shown_path_of(at.path)) + '\n';
  auto one = at;
  one.path.clear();
  out += '\n';
  changes.append_markdown(out, "Read one file or folder with `" + uri_of(one) + "?path=PATH`, or read it as blob/REV/PATH.");
  return out;
}

std::string diff_json(const asking& what, const revision& from, const revision& to, const change_list& changes) {
  std::string out;
  json::writer writer(out);
  writer.begin_object()
      .member("repository", what.at.repo)
      .member("from", text_of(from.commit))
      .member("to", text_of(to.commit));
  writer.member_if("path", shown_path_of(what.at.path));
  changes.write(writer.key("changes"));
  if (changes.secrets() > 0) writer.key("changesLeftOut").unsigned_integer(changes.secrets());
  writer.end_object();
  return out;
}

}  // namespace

result<std::vector<change>> compare_trees(const asking& what, const std::optional<git_oid>& from, const git_oid& to) {
  tree_pointer before;
  if (from) {
    HONDANA_TRY(auto opened, tree_of(what.in, *from));
    before = std::move(opened);
  }
  HONDANA_TRY(const auto after, tree_of(what.in, to));
  compare_options with;
  if (!what.at.path.empty()) with.paths.push_back(what.at.path);
  with.largest_renamed = largest_compared_file;
  with.is_stopped = what.is_stopped;
  // A description needs only the set of changed files.
  with.finds_renames = !what.is_description;
  auto found = compare(what.in, before.get(), after.get(), with);
  if (!found) return found;
  const auto folder_of = [](std::string_view path) {
    return path.substr(0, path.find('/') == path.npos ? 0 : path.rfind('/'));
  };
  auto& ignored = what.hides.ignored();
  stopping asks(what.is_stopped);
  for (const auto& one : *found) {
    HONDANA_TRY(asks.step());
    for (const auto* side : {&one.before, &one.after}) ignored.look_into(folder_of(side->path));
    if (const auto& why = ignored.trouble()) return tl::unexpected(*why);
  }
  return found;
}

result<rendering> render_diff(const asking& what) {
  HONDANA_TRY(const auto from, resolve(what.in, what.at.from, "from"));
  HONDANA_TRY(const auto to, resolve(what.in, what.at.to, "to"));
  auto made = rendering_for(what);
  made.is_fixed = from.is_fixed && to.is_fixed;
  HONDANA_TRY(const auto found, compare_trees(what, from.tree, to.tree));
  made.version = version_with_hidden(
      version_of({text_of(from.commit), text_of(to.commit), what.at.path, what.at.is_json ? "json" : ""}), what);
  if (what.is_enough(made.version)) return made;
  change_list changes(what, text_of(to.commit));
  HONDANA_TRY(changes.add(found));
  made.text = what.at.is_json ? diff_json(what, from, to, changes) : diff_markdown(what, from, to, changes);
  changes.describe(made);
  return made;
}

namespace {

std::string person_line(std::string_view what, const concealment& hides, const signature& from) {
  const auto who = shown_person(hides, from);
  return "- " + std::string(what) + ": " + escaped(who.name) + " (" + code(who.email) + "), " + time_of(who) + '\n';
}

class commit_view {
 public:
  commit_view(const asking& what, const commit_facts& facts, const change_list& changes, bool has_parents)
      : what_(what), facts_(facts), changes_(changes), has_parents_(has_parents) {}

  std::string markdown() const {
    const auto& repo = what_.at.repo;
    const auto id = text_of(facts_.id);
    std::string out = "# Commit `" + id + "`\n\n" + person_line("Author", what_.hides, facts_.author) +
                      person_line("Committer", what_.hides, facts_.committer);
    for (const auto& parent : facts_.parents) out += "- Parent: " + commit_link(repo, parent) + '\n';
    out += "- Files: " + link_to("tree", uri_of({.repo = repo, .what = topic::tree, .rev = id})) + '\n';
    if (!facts_.encoding.empty()) out += "- Original encoding of the message: " + escaped(facts_.encoding) + '\n';
    out += "\n## Message\n\n" + fenced(message_of(what_.hides, facts_), "text");
    if (facts_.cut_bytes > 0) out += "\n" + std::to_string(facts_.cut_bytes) + " bytes of the message are left out.\n";
    out += "\n## Changes\n\n";
    if (facts_.parents.size() > 1) out += "A merge. Differences from its first parent:\n\n";
    if (!facts_.parents.empty() && !has_parents_)
      out += "This shallow clone does not have its parents, so all files are shown as new:\n\n";
    changes_.append_markdown(out, advice());
    return out;
  }

  std::string json() const {
    std::string out;
    json::writer to(out);
    to.begin_object().member("repository", what_.at.repo);
    write_commit(to, what_.hides, what_.at.repo, facts_);
    changes_.write(to.key("changes"));
    if (changes_.secrets() > 0) to.key("changesLeftOut").unsigned_integer(changes_.secrets());
    to.end_object();
    return out;
  }

 private:
  /// A diff needs another commit, which a first commit does not have.
  std::string advice() const {
    if (!has_parents_) return "Read its files from the tree.";
    const auto diff =
        uri_of({.repo = what_.at.repo, .what = topic::diff, .from = text_of(facts_.parents.front()), .to = text_of(facts_.id)});
    return "Read one file or folder with `" + diff + "?path=PATH`.";
  }

  const asking& what_;
  const commit_facts& facts_;
  const change_list& changes_;
  const bool has_parents_;
};

}  // namespace

result<rendering> render_commit(const asking& what) {
  HONDANA_TRY(const auto rev, resolve(what.in, what.at.rev, "rev"));
  HONDANA_TRY(const auto store, commit_store::open(what.in));
  auto made = rendering_for(what);
  const auto id = text_of(rev.commit);
  made.is_fixed = rev.is_fixed && store.shallow_stamp().empty();
  HONDANA_TRY(const auto node, store.read(rev.commit));
  std::optional<git_oid> before;
  if (!node.parents.empty()) {
    HONDANA_TRY(const auto parent, store.read(node.parents.front()));
    before = parent.tree;
  }
  HONDANA_TRY(const auto found, compare_trees(what, before, node.tree));
  made.version = version_with_hidden(id + store.shallow_stamp() + ".commit" + (what.at.is_json ? ".json" : ""), what);
  if (what.is_enough(made.version)) return made;

  HONDANA_TRY(const auto facts, facts_of(what.in, rev.commit));
  change_list changes(what, id);
  HONDANA_TRY(changes.add(found));
  const commit_view view(what, facts, changes, before.has_value());
  made.text = what.at.is_json ? view.json() : view.markdown();
  changes.describe(made);
  return made;
}

namespace {

constexpr std::size_t most_listed = 1000;

/// Paths of which only the names are shown.
struct path_list {
  std::vector<std::string> shown;
  std::size_t secrets = 0;  // number of those left out

  [[nodiscard]] bool is_empty() const noexcept { return shown.empty() && secrets == 0; }
};

struct sections {
  change_list staged, unstaged;
  path_list conflicted, untracked;
  std::size_t unreadable = 0;

  [[nodiscard]] bool are_empty() const {
    return staged.is_empty() && unstaged.is_empty() && conflicted.is_empty() && untracked.is_empty() && unreadable == 0;
  }
};

path_list sorted_out(const asking& what, const std::vector<std::string>& found) {
  path_list out;
  for (const auto& one : found) {
    const bool is_folder = one.ends_with('/');
    const auto path = is_folder ? one.substr(0, one.size() - 1) : one;
    if (!what.hides.secret_at(path, is_folder).empty()) {
      if (what.hides.allows_file("HEAD", path) && !what.is_asked_by_name(path)) ++out.secrets;
    } else if (what.hides.shows_file("HEAD", path)) {
      out.shown.push_back(one);
    }
  }
  return out;
}

void append_paths(std::string& out, const std::string& title, const path_list& paths) {
  if (paths.is_empty()) return;
  out += "## " + title + "\n\n";
  for (std::size_t i = 0; i < paths.shown.size() && i < most_listed; ++i)
    out += "- " + code(shown_path_of(paths.shown[i])) + '\n';
  if (paths.shown.size() > most_listed) out += "- and " + std::to_string(paths.shown.size() - most_listed) + " more\n";
  if (paths.secrets > 0) out += secrets_line(paths.secrets);
  out += '\n';
}

void write_paths(json::writer& to, const std::string& name, const path_list& paths) {
  to.key(name).begin_array();
  for (const auto& one : paths.shown) to.string(shown_path_of(one));
  to.end_array();
  if (paths.secrets > 0) to.key(name + "LeftOut").unsigned_integer(paths.secrets);
}

std::string changes_markdown(const asking& what, const sections& all) {
  std::string out = "# Uncommitted changes of " + what.at.repo + "\n\n";
  if (!what.at.path.empty()) out += "Only " + code(shown_path_of(what.at.path)) + ".\n\n";
  if (all.are_empty()) return out + "None.\n";
  const auto advice =
      "Read one file or folder with `" + uri_of({.repo = what.at.repo, .what = topic::changes}) + "?path=PATH`.";
  append_paths(out, "In conflict", all.conflicted);
  for (const auto& [title, list] : {std::pair("Staged", &all.staged), std::pair("Not staged", &all.unstaged)}) {
    if (list->is_empty()) continue;
    out += "## " + std::string(title) + "\n\n";
    list->append_markdown(out, advice);
    out += '\n';
  }
  append_paths(out, "Untracked", all.untracked);
  if (all.unreadable > 0) out += std::to_string(all.unreadable) + " could not be read: the operating system denied access.\n";
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string changes_json(const asking& what, const sections& all) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("repository", what.at.repo).member_if("path", shown_path_of(what.at.path));
  for (const auto& [name, list] : {std::pair("staged", &all.staged), std::pair("unstaged", &all.unstaged)}) {
    list->write(to.key(name));
    if (list->secrets() > 0) to.key(std::string(name) + "LeftOut").unsigned_integer(list->secrets());
  }
  write_paths(to, "conflicted", all.conflicted);
  write_paths(to, "untracked", all.untracked);
  if (all.unreadable > 0) to.key("unreadable").unsigned_integer(all.unreadable);
  to.end_object();
  return out;
}

}  // namespace

result<rendering> render_changes(const asking& what) {
  auto made = rendering_for(what);
  made.ttl = std::chrono::milliseconds(0);
  compare_options with;
  if (!what.at.path.empty()) with.paths.push_back(what.at.path);
  with.largest_renamed = largest_compared_file;
  with.is_stopped = what.is_stopped;
  HONDANA_TRY(const auto found, compare_work_tree(what.in, with));
  // In URIs, files of the work tree are represented by the commit that is checked out.
  sections all{change_list(what, "HEAD"), change_list(what, "HEAD"), {}, {}, 0};
  HONDANA_TRY(all.staged.add(found.staged));
  HONDANA_TRY(all.unstaged.add(found.unstaged));
  all.conflicted = sorted_out(what, found.conflicted);
  all.untracked = sorted_out(what, found.untracked);
  const auto unreadable = sorted_out(what, found.unreadable);
  all.unreadable = unreadable.shown.size() + unreadable.secrets;
  made.text = what.at.is_json ? changes_json(what, all) : changes_markdown(what, all);
  if (const auto masked = all.staged.masked() + all.unstaged.masked(); masked > 0)
    made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(masked));
  version_by_text(made, what);
  return made;
}

}  // namespace hondana::git
