/// The view of a commit: what it says, and what it changed.
#include <string>
#include <utility>

#include "base/json/writer.hpp"
#include "sources/git/change_list.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/people.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/tree_pair.hpp"

namespace hondana::git {
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
  /// A difference needs another commit, which a first one does not have.
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

}  // namespace hondana::git
