/// The view of what differs between two revisions.
#include <string>
#include <utility>

#include "base/json/writer.hpp"
#include "sources/git/change_list.hpp"
#include "sources/git/comparison_limits.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/people.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/stopping.hpp"
#include "sources/git/text.hpp"
#include "sources/git/tree_pair.hpp"

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

std::string markdown_of(const asking& what, const revision& from, const revision& to, const change_list& changes) {
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

std::string json_of(const asking& what, const revision& from, const revision& to, const change_list& changes) {
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
  // Which files they are is enough for that.
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
  made.text = what.at.is_json ? json_of(what, from, to, changes) : markdown_of(what, from, to, changes);
  changes.describe(made);
  return made;
}

}  // namespace hondana::git
