/// The views of a log and of the history of a file.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/writer.hpp"
#include "sources/git/access_filter.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {

/// The path of `what`, without empty names; empty for an empty path. If the caller may not know what exists there, a path that
/// cannot exist, so that the response is the one for a missing path. `tree` is that of the revision `rev`. A path that is not
/// in it may have been a file or a folder, so the caller must be allowed to see both.
[[nodiscard]] std::string sought_path(const asking& what, std::string_view rev, const git_oid& tree);

namespace {

/// A search in trees treats `a//b` as `a/b`, so access rules must get that, too.
std::string without_empty_names(std::string_view path) {
  std::string tidied;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (!name.empty()) tidied += (tidied.empty() ? "" : "/") + std::string(name);
  }
  return tidied;
}

bool is_shown(const asking& what, std::string_view rev, const git_oid& tree, std::string_view path) {
  const auto entry = find_entry(what.in, tree, path);
  if (entry && entry->is_folder()) return what.hides.shows_folder(rev, path);
  if (!what.hides.shows_file(rev, path, entry ? entry->kind() : "blob")) return false;
  if (!entry) return what.hides.shows_folder(rev, path);
  return !entry->is_submodule() || what.hides.secret_at(path, true).empty();
}

}  // namespace

std::string sought_path(const asking& what, std::string_view rev, const git_oid& tree) {
  auto path = without_empty_names(what.at.path);
  // Names in trees cannot contain NUL.
  if (!path.empty() && !is_shown(what, rev, tree, path)) return std::string(1, '\0');
  return path;
}

namespace {

constexpr std::size_t usual_limit = 50;

log_request request_of(const asking& what, const git_oid& from) {
  log_request request;
  request.from = from;
  request.limit = what.at.limit.value_or(usual_limit);
  request.cursor = what.at.cursor;
  request.is_stopped = what.is_stopped;
  request.mask = [&hides = what.hides](std::string& text) { hides.mask_message(text); };
  request.shows = [&hides = what.hides](const git_oid& commit, const std::string& path) {
    return hides.shows_file(text_of(commit), path);
  };
  return request;
}

std::string next_uri(const asking& what, const std::optional<std::string>& cursor) {
  if (!cursor) return {};
  auto next = what.at;
  next.cursor = *cursor;
  return uri_of(next);
}

std::string foot(const std::string& next, bool is_empty) {
  if (next.empty()) return is_empty ? "No commits.\n" : "";
  return (is_empty ? "No matching commits so far. " : "\n") + link_to("Older commits", next) + '\n';
}

/// Writes the members common to both views, and the end of the object.
void end_page(json::writer& to, const std::string& next) {
  to.end_array();
  to.member_if("next", next);
  to.end_object();
}

result<std::optional<revision>> start_of(const asking& what) {
  if (what.at.ref.empty()) {
    const auto head = head_of(what.in);
    if (head && !head->commit) return std::optional<revision>();
  }
  HONDANA_TRY(auto rev, resolve(what.in, what.at.ref.empty() ? "HEAD" : what.at.ref, "ref"));
  return rev;
}

std::string log_text(const asking& what, const log_page& page) {
  const auto& at = what.at;
  const auto next = next_uri(what, page.next);
  std::string out;
  if (at.is_json) {
    json::writer to(out);
    to.begin_object().member("repository", at.repo).key("commits").begin_array();
    for (const auto& one : page.commits) {
      write_commit(to.begin_object(), what.hides, at.repo, one);
      to.end_object();
    }
    end_page(to, next);
    return out;
  }
  out = "# Log of " + at.repo + " from " + code(at.ref.empty() ? "HEAD" : at.ref) + "\n\n";
  for (const auto& one : page.commits) out += commit_line(what.hides, at.repo, one);
  return out += foot(next, page.commits.empty());
}

std::string history_text(const asking& what, const file_history_page& page) {
  const auto& at = what.at;
  const auto next = next_uri(what, page.next);
  const auto blob_of = [&](const file_step& step) {
    return uri_of({.repo = at.repo, .what = topic::blob, .rev = text_of(step.commit.id), .path = step.path});
  };
  std::string out;
  if (at.is_json) {
    json::writer to(out);
    to.begin_object().member("repository", at.repo).member("path", shown_path_of(at.path)).key("steps").begin_array();
    for (const auto& one : page.steps) {
      to.begin_object().member("path", shown_path_of(one.path));
      if (one.is_deleted) to.key("deleted").boolean(true);
      if (!one.is_deleted) to.member("blob", blob_of(one));
      write_commit(to.key("commit").begin_object(), what.hides, at.repo, one.commit);
      to.end_object().end_object();
    }
    end_page(to, next);
    return out;
  }
  out = "# History of " + code(shown_path_of(at.path)) + " in " + at.repo + " from " + code(at.rev) + "\n\n";
  for (const auto& one : page.steps) {
    auto line = commit_line(what.hides, at.repo, one.commit);
    line.pop_back();
    const auto name = code(shown_path_of(one.path));
    out += line + " (" + (one.is_deleted ? name + " deleted" : link_to(name, blob_of(one))) + ")\n";
  }
  return out += foot(next, page.steps.empty());
}

bool has_deleted(git_repository* in, const commit_store& store, const file_step& one) {
  const auto commit = store.read(one.commit.id);
  if (!commit) return false;
  const auto entry = find_entry(in, commit->tree, one.path);
  return !entry && entry.error().code == errc::resource_not_found;
}

tl::unexpected<failure> history_of_folder_refused(const asking& what) {
  const auto& at = what.at;
  return fail(
      errc::invalid_argument,
      "path: " + in_quotes(at.path, 400) +
          " is a folder, and only files have a history. For the commits that changed files in it, read log?ref=REV&path=PATH.");
}

}  // namespace

result<rendering> render_log(const asking& what) {
  HONDANA_TRY(const auto from, start_of(what));
  HONDANA_TRY(const auto store, commit_store::open(what.in));
  auto made = rendering_for(what);
  made.is_fixed = from && from->is_fixed && store.shallow_stamp().empty();
  if (!what.at.path.empty()) what.hides.ignored().look_into(what.at.path);
  made.version =
      version_with_hidden(version_of({from ? text_of(from->commit) : "", store.shallow_stamp(), uri_of(what.at)}), what);
  if (what.is_enough(made.version)) return made;
  const auto folders = what.hides.ignored().folder_count();
  log_page page;
  if (from) {
    auto request = request_of(what, from->commit);
    const auto path = sought_path(what, what.at.ref.empty() ? "HEAD" : what.at.ref, from->tree);
    request.filter = {path, what.at.author, what.at.grep, what.at.since, what.at.until};
    HONDANA_TRY(auto found, log(what.in, request));
    page = std::move(found);
  }
  made.text = log_text(what, page);
  add_ignored(made, what, folders);
  return made;
}

result<rendering> render_history(const asking& what) {
  if (const auto why = what.hides.secret_at(what.at.path, false); !why.empty())
    return tl::unexpected(concealment::refusal_of(what.at.path, why));
  HONDANA_TRY(const auto rev, resolve(what.in, what.at.rev, "rev"));
  const auto entry = find_entry(what.in, rev.tree, what.at.path);
  if (entry && entry->is_folder() && what.hides.shows_folder(what.at.rev, what.at.path)) return history_of_folder_refused(what);
  HONDANA_TRY(const auto store, commit_store::open(what.in));
  auto made = rendering_for(what);
  made.is_fixed = rev.is_fixed && store.shallow_stamp().empty();
  made.version = version_with_hidden(version_of({text_of(rev.commit), store.shallow_stamp(), uri_of(what.at)}), what);
  if (what.is_enough(made.version)) return made;
  const auto folders = what.hides.ignored().folder_count();
  const auto path = sought_path(what, what.at.rev, rev.tree);
  auto page = file_history(what.in, rev.commit, path, request_of(what, rev.commit));
  if (!page) return tl::unexpected(std::move(page.error()));
  // A path that may be shown at one revision need not be at another.
  std::erase_if(page->steps, [&](const file_step& one) { return !what.hides.shows_file(text_of(one.commit.id), one.path); });
  const bool may_be_there = path == what.at.path && (entry || entry.error().code != errc::resource_not_found);
  if (page->steps.empty() && !page->next && what.at.cursor.empty() && !may_be_there)
    return tl::unexpected(missing_file(what.at.path));
  for (auto& one : page->steps) one.is_deleted = has_deleted(what.in, store, one);
  made.text = history_text(what, *page);
  add_ignored(made, what, folders);
  return made;
}

}  // namespace hondana::git
