/// The view of what a work tree has that no commit has.
#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/change_list.hpp"
#include "sources/git/changes.hpp"
#include "sources/git/comparison_limits.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_listed = 1000;

/// Paths that nothing but their names is said of.
struct path_list {
  std::vector<std::string> shown;
  std::size_t secrets = 0;  // that are left out

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

std::string markdown_of(const asking& what, const sections& all) {
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

std::string json_of(const asking& what, const sections& all) {
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
  // Nothing but the commit that is checked out stands for files of the work tree in URIs.
  sections all{change_list(what, "HEAD"), change_list(what, "HEAD"), {}, {}, 0};
  HONDANA_TRY(all.staged.add(found.staged));
  HONDANA_TRY(all.unstaged.add(found.unstaged));
  all.conflicted = sorted_out(what, found.conflicted);
  all.untracked = sorted_out(what, found.untracked);
  const auto unreadable = sorted_out(what, found.unreadable);
  all.unreadable = unreadable.shown.size() + unreadable.secrets;
  made.text = what.at.is_json ? json_of(what, all) : markdown_of(what, all);
  if (const auto masked = all.staged.masked() + all.unstaged.masked(); masked > 0)
    made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(masked));
  version_by_text(made, what);
  return made;
}

}  // namespace hondana::git
