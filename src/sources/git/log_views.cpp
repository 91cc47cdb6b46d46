/// The views of a log and of the history of a file.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/writer.hpp"
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
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// The path of `request`, without empty names; empty for an empty path. If the caller may not know what exists there, a path
/// that cannot exist, so that the response is the one for a missing path. `tree` is that of the revision `rev`. A path that is
/// not in it may have been a file or a folder, so the caller must be allowed to see both.
[[nodiscard]] std::string permitted_path(const view_request& request, std::string_view rev, const git_oid& tree);

namespace {

/// A search in trees treats `a//b` as `a/b`, so access rules must get that, too.
std::string remove_empty_names(std::string_view path) {
  std::string normalized;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (!name.empty()) normalized += (normalized.empty() ? "" : "/") + std::string(name);
  }
  return normalized;
}

bool is_visible_path(const view_request& request, std::string_view rev, const git_oid& tree, std::string_view path) {
  const auto entry = find_entry(request.repo, tree, path);
  if (entry && entry->is_folder()) return request.visibility.shows_folder(rev, path);
  if (!request.visibility.shows_file(rev, path, entry ? entry->kind() : "blob")) return false;
  if (!entry) return request.visibility.shows_folder(rev, path);
  return !entry->is_submodule() || request.visibility.hidden_reason(path, true).empty();
}

}  // namespace

std::string permitted_path(const view_request& request, std::string_view rev, const git_oid& tree) {
  auto path = remove_empty_names(request.target.path);
  // Names in trees cannot contain NUL.
  if (!path.empty() && !is_visible_path(request, rev, tree, path)) return std::string(1, '\0');
  return path;
}

namespace {

constexpr std::size_t default_limit = 50;

log_request make_log_request(const view_request& request, const git_oid& start) {
  log_request query;
  query.start = start;
  query.limit = request.target.limit.value_or(default_limit);
  query.cursor = request.target.cursor;
  query.is_stopped = request.is_stopped;
  query.mask = [&filter = request.visibility](std::string& text) { filter.mask_message(text); };
  query.is_visible = [&visibility = request.visibility](const git_oid& commit, const std::string& path) {
    return visibility.shows_file(to_hex(commit), path);
  };
  return query;
}

std::string next_uri(const view_request& request, const std::optional<std::string>& cursor) {
  if (!cursor) return {};
  auto next = request.target;
  next.cursor = *cursor;
  return uri_of(next);
}

std::string footer(const std::string& next, bool is_empty) {
  if (next.empty()) return is_empty ? "No commits.\n" : "";
  return (is_empty ? "No matching commits so far. " : "\n") + markdown_link("Older commits", next) + '\n';
}

/// Writes the members common to both views, and the end of the object.
void end_page(json::writer& writer, const std::string& next) {
  writer.end_array();
  writer.member_if("next", next);
  writer.end_object();
}

result<std::optional<revision>> find_start(const view_request& request) {
  if (request.target.ref.empty()) {
    const auto head = head_of(request.repo);
    if (head && !head->commit) return std::optional<revision>();
  }
  HONDANA_TRY(auto rev, resolve_revision(request.repo, request.target.ref.empty() ? "HEAD" : request.target.ref, "ref"));
  return rev;
}

std::string log_text(const view_request& request, const log_page& page) {
  const auto& target = request.target;
  const auto next = next_uri(request, page.next);
  std::string out;
  if (target.is_json) {
    json::writer writer(out);
    writer.begin_object().member("repository", target.repo).key("commits").begin_array();
    for (const auto& commit : page.commits) {
      write_commit(writer.begin_object(), request.visibility, target.repo, commit);
      writer.end_object();
    }
    end_page(writer, next);
    return out;
  }
  out = "# Log of " + target.repo + " from " + code_span(target.ref.empty() ? "HEAD" : target.ref) + "\n\n";
  for (const auto& commit : page.commits) out += commit_line(request.visibility, target.repo, commit);
  return out += footer(next, page.commits.empty());
}

std::string history_text(const view_request& request, const file_history_page& page) {
  const auto& target = request.target;
  const auto next = next_uri(request, page.next);
  const auto blob_uri = [&](const file_step& step) {
    return uri_of({.repo = target.repo, .kind = resource_kind::blob, .rev = to_hex(step.commit.id), .path = step.path});
  };
  std::string out;
  if (target.is_json) {
    json::writer writer(out);
    writer.begin_object()
        .member("repository", target.repo)
        .member("path", display_path(target.path))
        .key("steps")
        .begin_array();
    for (const auto& step : page.steps) {
      writer.begin_object().member("path", display_path(step.path));
      if (step.is_deleted) writer.key("deleted").boolean(true);
      if (!step.is_deleted) writer.member("blob", blob_uri(step));
      if (step.lacks_content) writer.key("notFetched").boolean(true);
      write_commit(writer.key("commit").begin_object(), request.visibility, target.repo, step.commit);
      writer.end_object().end_object();
    }
    end_page(writer, next);
    return out;
  }
  out =
      "# History of " + code_span(display_path(target.path)) + " in " + target.repo + " from " + code_span(target.rev) + "\n\n";
  for (const auto& step : page.steps) {
    auto line = commit_line(request.visibility, target.repo, step.commit);
    line.pop_back();
    const auto name = code_span(display_path(step.path));
    out +=
        line + " (" + (step.is_deleted ? name + " deleted" : markdown_link(name, blob_uri(step))) + ")" +
        (step.lacks_content ? "; earlier names are unknown, because this content was not fetched into the partial clone" : "") +
        '\n';
  }
  return out += footer(next, page.steps.empty());
}

bool has_deleted(git_repository* repo, const commit_store& store, const file_step& step) {
  const auto commit = store.read(step.commit.id);
  if (!commit) return false;
  const auto entry = find_entry(repo, commit->tree, step.path);
  return !entry && entry.error().code == errc::resource_not_found;
}

tl::unexpected<failure> folder_history_error(const view_request& request) {
  const auto& target = request.target;
  return fail(
      errc::invalid_argument,
      "path: " + quote(target.path, 400) +
          " is a folder, and only files have a history. For the commits that changed files in it, read log?ref=REV&path=PATH.");
}

}  // namespace

result<rendering> render_log(const view_request& request) {
  HONDANA_TRY(const auto start, find_start(request));
  HONDANA_TRY(const auto store, commit_store::open(request.repo));
  auto rendered = make_rendering(request);
  rendered.is_fixed = start && start->is_fixed && store.stamp().empty();
  if (!request.target.path.empty()) request.visibility.ignored().load_folder(request.target.path);
  rendered.version =
      version_with_visibility(version_of({start ? to_hex(start->commit) : "", store.stamp(), uri_of(request.target)}), request);
  if (request.is_satisfied_by(rendered.version)) return rendered;
  const auto folder_count = request.visibility.ignored().folder_count();
  log_page page;
  if (start) {
    auto query = make_log_request(request, start->commit);
    const auto path = permitted_path(request, request.target.ref.empty() ? "HEAD" : request.target.ref, start->tree);
    query.filter = {path, request.target.author, request.target.grep, request.target.since, request.target.until};
    HONDANA_TRY(auto fetched, read_log(request.repo, query));
    page = std::move(fetched);
  }
  rendered.text = log_text(request, page);
  add_ignored_version(rendered, request, folder_count);
  return rendered;
}

result<rendering> render_history(const view_request& request) {
  if (const auto reason = request.visibility.hidden_reason(request.target.path, false); !reason.empty())
    return tl::unexpected(visibility_filter::hidden_error(request.target.path, reason));
  HONDANA_TRY(const auto rev, resolve_revision(request.repo, request.target.rev, "rev"));
  const auto entry = find_entry(request.repo, rev.tree, request.target.path);
  if (entry && entry->is_folder() && request.visibility.shows_folder(request.target.rev, request.target.path))
    return folder_history_error(request);
  HONDANA_TRY(const auto store, commit_store::open(request.repo));
  auto rendered = make_rendering(request);
  rendered.is_fixed = rev.is_fixed && store.stamp().empty();
  rendered.version = version_with_visibility(version_of({to_hex(rev.commit), store.stamp(), uri_of(request.target)}), request);
  if (request.is_satisfied_by(rendered.version)) return rendered;
  const auto folder_count = request.visibility.ignored().folder_count();
  const auto path = permitted_path(request, request.target.rev, rev.tree);
  auto page = file_history(request.repo, rev.commit, path, make_log_request(request, rev.commit));
  if (!page) return tl::unexpected(std::move(page.error()));
  // A path that may be shown at one revision need not be at another.
  std::erase_if(page->steps,
                [&](const file_step& step) { return !request.visibility.shows_file(to_hex(step.commit.id), step.path); });
  const bool may_exist = path == request.target.path && (entry || entry.error().code != errc::resource_not_found);
  if (page->steps.empty() && !page->next && request.target.cursor.empty() && !may_exist)
    return tl::unexpected(missing_file_error(request.target.path));
  for (auto& step : page->steps) step.is_deleted = has_deleted(request.repo, store, step);
  if (std::any_of(page->steps.begin(), page->steps.end(), [](const file_step& step) { return step.lacks_content; })) {
    rendered.is_fixed = false;  // it may be fetched later
    rendered.is_incomplete = true;
  }
  rendered.text = history_text(request, *page);
  add_ignored_version(rendered, request, folder_count);
  return rendered;
}

}  // namespace hondana::git
