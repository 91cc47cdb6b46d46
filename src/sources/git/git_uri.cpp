/// Addresses of repository contents: parsing and writing `git://` URIs, their query parameters and templates.
#include "sources/git/git_uri.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/uri.hpp>

#include "base/uri/query_parameters.hpp"
#include "base/uri/uri_syntax.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/git/revision.hpp"

namespace hondana::git {

namespace {

constexpr std::array<std::string_view, 2> format_choices{"markdown", "json"};
constexpr uri::query_parameter format_parameter{
    .name = "format", .type = uri::parameter_type::choice, .choices = format_choices};
/// Kinds with fewer parameters have the last ones of these.
constexpr auto log_parameters = std::to_array<uri::query_parameter>({
    {.name = "ref", .type = uri::parameter_type::bytes},
    {.name = "path", .type = uri::parameter_type::bytes},
    {.name = "author", .type = uri::parameter_type::bytes},
    {.name = "grep", .type = uri::parameter_type::bytes},
    {.name = "since"},
    {.name = "until"},
    {.name = "limit", .type = uri::parameter_type::integer, .min = 1, .max = max_page_size},
    {.name = "cursor", .type = uri::parameter_type::bytes},
    format_parameter,
});
constexpr auto blame_parameters = std::to_array<uri::query_parameter>({
    {.name = "lines", .type = uri::parameter_type::range, .min = 1},
    format_parameter,
});
constexpr auto diff_parameters = std::to_array<uri::query_parameter>({
    {.name = "path", .type = uri::parameter_type::bytes},
    format_parameter,
});

std::span<const uri::query_parameter> parameters_of(resource_kind kind) noexcept {
  using enum resource_kind;
  switch (kind) {
    case log:
      return log_parameters;
    case history:
      return std::span(log_parameters).last(3);
    case branches:
    case tags:
    case tree:
      return std::span(log_parameters).last(2);
    case blob:
      return std::span(blame_parameters).first(1);
    case blame:
      return blame_parameters;
    case diff:
    case changes:
      return diff_parameters;
    case overview:
    case commit:
    case stashes:
    case worktrees:
      break;
  }
  return std::span(log_parameters).last(1);
}

/// A date means its first second or, as an end, its last one.
std::optional<std::int64_t> parse_timestamp(std::string_view text, bool is_end) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  const auto time = model::parse_time(text);
  if (!time) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  constexpr std::size_t day_size = 10;
  constexpr std::int64_t last_second_of_day = 86'399;
  return is_end && text.size() == day_size ? seconds + last_second_of_day : seconds;
}

/// Reads a query into an address whose kind is known.
result<void> read_parameters(address& target, std::optional<std::string_view> query) {
  HONDANA_TRY(const auto values,
              uri::parse_query(query, parameters_of(target.kind), "git://REPO/" + std::string(name_of(target.kind))));
  if (values.has("ref")) HONDANA_TRY(check_revision(values.text("ref"), "ref"));
  target.ref = values.text("ref");
  if (auto path = values.text("path"); !path.empty()) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.find('\0') != std::string_view::npos || path.starts_with('/'))
      return values.invalid("path", "expected a path below the top folder, as it appears in tree listings.");
    target.path = path;
  }
  target.author = values.text("author");
  target.grep = values.text("grep");
  for (const auto& [name, time] : {std::pair("since", &target.since), std::pair("until", &target.until)}) {
    if (!values.has(name)) continue;
    *time = parse_timestamp(values.text(name), time == &target.until);
    if (!*time)
      return values.invalid(name,
                            "expected a date (2026-01-31), a date and time (2026-01-31T08:00:00Z) or seconds since 1970.");
  }
  if (const auto lines = values.range("lines")) target.lines = line_range{lines->first, lines->last};
  target.limit = values.integer("limit");
  target.cursor = values.text("cursor");
  target.is_json = values.text("format") == "json";
  return {};
}

constexpr std::array<std::string_view, 13> resource_kind_names{"overview", "branches",  "tags",   "log",   "commit",
                                                               "tree",     "blob",      "diff",   "blame", "history",
                                                               "stashes",  "worktrees", "changes"};

tl::unexpected<failure> not_found(std::string_view reason) {
  return fail(errc::resource_not_found,
              std::string(reason) +
                  " Supported: git://REPO/ followed by overview, branches, tags, log, commit/REV, tree/REV/PATH, "
                  "blob/REV/PATH, diff/FROM..TO, blame/REV/PATH, history/REV/PATH, stashes, worktrees or changes.");
}

bool is_slug(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool has_revision(resource_kind kind) noexcept {
  return kind == resource_kind::commit || kind == resource_kind::tree || kind == resource_kind::blob ||
         kind == resource_kind::blame || kind == resource_kind::history;
}
bool has_path(resource_kind kind) noexcept { return has_revision(kind) && kind != resource_kind::commit; }

/// Removes the part before the next slash from the front, and returns it.
std::string_view pop_segment(std::string_view& remaining) noexcept {
  const auto segment = remaining.substr(0, remaining.find('/'));
  remaining.remove_prefix(std::min(remaining.size(), segment.size() + 1));
  return segment;
}

result<std::string> decode_revision(std::string_view encoded, std::string_view argument) {
  auto text = percent_decode(encoded);
  if (!text) return tl::unexpected(std::move(text.error()));
  HONDANA_TRY(check_revision(*text, argument));
  return text;
}

/// An escaped slash would be part of a name, and git has no such names.
result<std::string> decode_path(std::string_view encoded) {
  while (encoded.ends_with('/')) encoded.remove_suffix(1);
  std::string path;
  for (auto remaining = encoded; !remaining.empty();) {
    const auto name = percent_decode(pop_segment(remaining));
    if (!name) return tl::unexpected(name.error());
    if (name->empty() || name->find('/') != std::string::npos)
      return fail(errc::resource_not_found,
                  "path: one of its names is empty or contains %2F. Write the path as it appears in tree listings.");
    path += (path.empty() ? "" : "/") + *name;
  }
  return path;
}

result<void> parse_diff_range(address& target, std::string_view encoded) {
  const auto dots = encoded.find("..");
  if (dots == std::string_view::npos)
    return fail(errc::invalid_argument, "from, to: write a diff as diff/FROM..TO, with two dots between.");
  auto to_text = encoded.substr(dots + 2);
  if (to_text.starts_with('.'))
    return fail(errc::invalid_argument,
                "from, to: FROM...TO, from the merge base, is not supported. Find the merge base in the log, and read "
                "diff/BASE..TO with two dots.");
  auto from_rev = decode_revision(encoded.substr(0, dots), "from");
  if (!from_rev) return tl::unexpected(std::move(from_rev.error()));
  auto to_rev = decode_revision(to_text, "to");
  if (!to_rev) return tl::unexpected(std::move(to_rev.error()));
  // Next to the two dots between the names, it would be unclear which dots belong to a name. Git has no such names.
  if (from_rev->ends_with('.') || to_rev->starts_with('.'))
    return fail(errc::invalid_argument, "from, to: FROM must not end with a dot, and TO must not begin with one.");
  target.from_rev = std::move(*from_rev);
  target.to_rev = std::move(*to_rev);
  return {};
}

void append_parameter(std::string& uri, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  uri += uri.find('?') == std::string::npos ? '?' : '&';
  uri += name;
  uri += '=';
  uri += percent_encode(value);
}

std::string number_text(const auto& number) { return number ? std::to_string(*number) : std::string(); }

}  // namespace

std::string_view name_of(resource_kind kind) noexcept { return resource_kind_names.at(static_cast<std::size_t>(kind)); }

result<address> parse_address(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "git" || !parts.authority || parts.fragment) return not_found("This is not the URI of a repository.");
  if (!is_slug(*parts.authority)) return not_found("The name of a repository contains only a-z, 0-9 and -.");
  auto remaining = parts.path;
  if (remaining.starts_with('/')) remaining.remove_prefix(1);
  const auto kind_name = std::find(resource_kind_names.begin(), resource_kind_names.end(), pop_segment(remaining));
  if (kind_name == resource_kind_names.end()) return not_found("A repository has no entry of that name.");
  address parsed{std::string(*parts.authority), static_cast<resource_kind>(kind_name - resource_kind_names.begin())};
  if (has_revision(parsed.kind)) {
    HONDANA_TRY(auto rev, decode_revision(pop_segment(remaining), "rev"));
    parsed.rev = std::move(rev);
  }
  if (parsed.kind == resource_kind::diff) HONDANA_TRY(parse_diff_range(parsed, pop_segment(remaining)));
  if (has_path(parsed.kind)) {
    auto path = decode_path(remaining);
    if (!path) return tl::unexpected(std::move(path.error()));
    parsed.path = std::move(*path);
    if (parsed.path.empty() && parsed.kind != resource_kind::tree)
      return fail(errc::invalid_argument, "path: it is missing. Write the file's path after the revision.");
  } else if (!remaining.empty()) {
    return not_found("That entry has nothing below it.");
  }
  HONDANA_TRY(read_parameters(parsed, parts.query));
  return parsed;
}

std::string uri_prefix(std::string_view repo) { return "git://" + std::string(repo) + '/'; }

std::string encode_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (uri::file_path_characters.contains(c)) {
      out += c;
    } else {
      uri::append_escape(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string uri_of(const address& address) {
  auto uri = uri_prefix(address.repo);
  uri += name_of(address.kind);
  if (has_revision(address.kind)) uri += '/' + percent_encode(address.rev);
  if (address.kind == resource_kind::diff)
    uri += '/' + percent_encode(address.from_rev) + ".." + percent_encode(address.to_rev);
  if (has_path(address.kind) && !address.path.empty()) uri += '/' + encode_path(address.path);
  append_parameter(uri, "ref", address.ref);
  if (!has_path(address.kind)) append_parameter(uri, "path", address.path);
  append_parameter(uri, "author", address.author);
  append_parameter(uri, "grep", address.grep);
  append_parameter(uri, "since", number_text(address.since));
  append_parameter(uri, "until", number_text(address.until));
  if (address.lines)
    append_parameter(uri, "lines",
                     address.lines->last == address.lines->first
                         ? std::to_string(address.lines->first)
                         : std::to_string(address.lines->first) + '-' + number_text(address.lines->last));
  append_parameter(uri, "limit", number_text(address.limit));
  append_parameter(uri, "cursor", address.cursor);
  if (address.is_json) append_parameter(uri, "format", "json");
  return uri;
}

namespace {

constexpr std::string_view markdown = "text/markdown";

resource_template make_template(std::string uri, std::string name, std::string title, std::string description,
                                std::string_view mime_type = markdown) {
  resource_template entry;
  entry.uri_template = std::move(uri);
  entry.name = std::move(name);
  entry.title = std::move(title);
  entry.description = std::move(description);
  entry.mime_type = mime_type;
  return entry;
}

}  // namespace

std::vector<resource_template> address_templates() {
  return {
      make_template("git://{repo}/overview{?format}", "git-overview", "Overview of a repository",
                    "Branch, state of the work tree, remotes and the latest commits. format=json for programs."),
      make_template("git://{repo}/branches{?format,cursor}", "git-branches", "Branches",
                    "Local and remote branches with their commits, and how far each is ahead of or behind its upstream."),
      make_template("git://{repo}/tags{?format,cursor}", "git-tags", "Tags", "Tags, their targets and their messages."),
      make_template("git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}", "git-log", "Log",
                    "Commits reachable from ref (default HEAD), newest first. path: a file or folder; author and grep: "
                    "case-insensitive RE2 expressions, like git log -i -E; since and until: dates; limit: 1 to 1000."),
      make_template(
          "git://{repo}/commit/{rev}{?format}", "git-commit", "Commit",
          "Message, author, committer, changed files and patch against the first parent. rev: a branch (feature%2Fx), "
          "a tag, HEAD, an id or the beginning of one, optionally with ~N or ^N."),
      make_template("git://{repo}/tree/{rev}{?cursor,format}", "git-tree", "Top folder at a revision",
                    "The contents of the top folder at a revision."),
      make_template("git://{repo}/tree/{rev}/{+path}{?cursor,format}", "git-folder", "Folder at a revision",
                    "The contents of a folder at a revision."),
      make_template("git://{repo}/blob/{rev}/{+path}{?lines}", "git-blob", "File at a revision",
                    "A file at a revision; lines=10-40 for a part of it.", ""),
      make_template("git://{repo}/diff/{from}..{to}{?path,format}", "git-diff", "Difference between two revisions",
                    "Changed files and patch from one revision to another; path: only that file or folder."),
      make_template("git://{repo}/blame/{rev}/{+path}{?lines,format}", "git-blame", "Blame",
                    "Which commit wrote each line of a file."),
      make_template("git://{repo}/history/{rev}/{+path}{?limit,cursor,format}", "git-history", "History of a file",
                    "Commits that changed a file, newest first, across renames."),
      make_template("git://{repo}/stashes{?format}", "git-stashes", "Stashes", "Stashed changes."),
      make_template("git://{repo}/worktrees{?format}", "git-worktrees", "Work trees",
                    "Work trees linked to the repository, and what each has checked out."),
      make_template("git://{repo}/changes{?path,format}", "git-changes", "Uncommitted changes",
                    "Staged, unstaged and untracked changes in the work tree, with patches; path: only that file or folder."),
  };
}

}  // namespace hondana::git
