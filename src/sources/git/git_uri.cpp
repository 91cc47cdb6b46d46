/// Addresses of repository contents: parsing and writing `git://` URIs, their query parameters and templates.
#include "sources/git/git_uri.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {

/// Reads a query (without `?`) into an address whose kind is known. The order of parameters does not matter. Errors:
/// resource_not_found for parameters that the kind does not have. invalid_argument for wrong values and repeated parameters;
/// its text begins with the parameter's name.
[[nodiscard]] result<void> parse_parameters(address& target, std::string_view query);

namespace {

/// Bytes; somewhat more than the longest cursor of a walk.
constexpr std::size_t max_value_bytes = std::size_t{64} << 10;

tl::unexpected<failure> invalid_value(std::string_view name, std::string_view value, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name) + ": " + quote(value) + ' ' + std::string(reason));
}

template <class Number>
std::optional<Number> parse_number(std::string_view digits) {
  Number value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

std::optional<line_range> parse_lines(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_number<std::size_t>(text.substr(0, dash));
  if (!first || *first == 0) return std::nullopt;
  if (dash == std::string_view::npos) return line_range{*first, first};
  if (dash + 1 == text.size()) return line_range{*first, std::nullopt};
  const auto last = parse_number<std::size_t>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return line_range{*first, last};
}

/// A date means its first second or, as an end, its last one.
std::optional<std::int64_t> parse_timestamp(std::string_view text, bool is_end) {
  if (const auto seconds = parse_number<std::int64_t>(text)) return seconds;
  const auto time = model::parse_time(text);
  if (!time) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  constexpr std::size_t day_size = 10;
  constexpr std::int64_t last_second_of_day = 86'399;
  return is_end && text.size() == day_size ? seconds + last_second_of_day : seconds;
}

result<void> parse_time_parameter(std::optional<std::int64_t>& time, std::string_view name, const std::string& value) {
  time = parse_timestamp(value, name == "until");
  if (!time)
    return invalid_value(
        name, value, "is not a time. Write a date (2026-01-31), a date and time (2026-01-31T08:00:00Z) or seconds since 1970.");
  return {};
}

using value_parser = result<void> (*)(address&, const std::string&);

struct parameter {
  std::string_view name;
  std::vector<resource_kind> kinds;
  value_parser parse;
};

const std::vector<parameter>& parameters() {
  using enum resource_kind;
  static const std::vector<parameter> definitions{
      {"format",
       {overview, branches, tags, log, commit, tree, diff, blame, history, stashes, worktrees, changes},
       [](address& target, const std::string& value) -> result<void> {
         target.is_json = value == "json";
         if (!target.is_json && value != "markdown")
           return invalid_value("format", value, "is not a format. Use markdown or json.");
         return {};
       }},
      {"cursor",
       {branches, tags, log, tree, history},
       [](address& target, const std::string& value) -> result<void> {
         target.cursor = value;
         return {};
       }},
      {"limit",
       {log, history},
       [](address& target, const std::string& value) -> result<void> {
         target.limit = parse_number<std::size_t>(value);
         if (!target.limit || *target.limit == 0 || *target.limit > max_page_size)
           return invalid_value("limit", value, "is not a number from 1 to " + std::to_string(max_page_size) + '.');
         return {};
       }},
      {"lines",
       {blob, blame},
       [](address& target, const std::string& value) -> result<void> {
         target.lines = parse_lines(value);
         if (!target.lines)
           return invalid_value("lines", value, "is malformed. Write FIRST-LAST, FIRST- or LINE, counted from 1: lines=10-40.");
         return {};
       }},
      {"ref",
       {log},
       [](address& target, const std::string& value) -> result<void> {
         target.ref = value;
         return check_revision(value, "ref");
       }},
      {"path",
       {log, diff, changes},
       [](address& target, const std::string& value) -> result<void> {
         target.path = value;
         while (target.path.ends_with('/')) target.path.pop_back();
         if (target.path.find('\0') != std::string::npos || target.path.starts_with('/'))
           return invalid_value("path", value, "is not a path below the top folder. Write it as it appears in tree listings.");
         return {};
       }},
      {"author",
       {log},
       [](address& target, const std::string& value) -> result<void> {
         target.author = value;
         return {};
       }},
      {"grep",
       {log},
       [](address& target, const std::string& value) -> result<void> {
         target.grep = value;
         return {};
       }},
      {"since",
       {log},
       [](address& target, const std::string& value) { return parse_time_parameter(target.since, "since", value); }},
      {"until",
       {log},
       [](address& target, const std::string& value) { return parse_time_parameter(target.until, "until", value); }},
  };
  return definitions;
}

std::string parameter_names(resource_kind kind) {
  std::string names;
  for (const auto& definition : parameters())
    if (std::find(definition.kinds.begin(), definition.kinds.end(), kind) != definition.kinds.end())
      names += (names.empty() ? "" : ", ") + std::string(definition.name);
  return names;
}

}  // namespace

result<void> parse_parameters(address& target, std::string_view query) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, encoded] = uri::pop_parameter(query);
    const auto& definitions = parameters();
    const auto match = std::find_if(definitions.begin(), definitions.end(), [&](const parameter& definition) {
      return definition.name == name &&
             std::find(definition.kinds.begin(), definition.kinds.end(), target.kind) != definition.kinds.end();
    });
    if (match == definitions.end())
      return fail(errc::resource_not_found, std::string(name_of(target.kind)) + " has no parameter " + quote(name) +
                                                ". Its parameters: " + parameter_names(target.kind) + '.');
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return fail(errc::invalid_argument, std::string(name) + ": it is given more than once. Give it once.");
    seen.push_back(name);
    const auto value = percent_decode(encoded);
    if (!value || value->size() > max_value_bytes)
      return fail(errc::invalid_argument, std::string(name) + ": its value is malformed or too long.");
    // An empty value counts as absent, as in the expansion of a template.
    if (value->empty()) continue;
    if (auto parsed = match->parse(target, *value); !parsed) return parsed;
  }
  return {};
}

namespace {

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
  HONDANA_TRY(parse_parameters(parsed, parts.query.value_or(std::string_view())));
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
