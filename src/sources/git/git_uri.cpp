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

/// Reads a query (without `?`) into an address whose topic is known. The order of parameters does not matter. Errors:
/// resource_not_found for parameters that the topic does not have. invalid_argument for wrong values and repeated parameters;
/// its text begins with the parameter's name.
[[nodiscard]] result<void> read_parameters(address& into, std::string_view query);

namespace {

/// Bytes; somewhat more than the longest cursor of a walk.
constexpr std::size_t longest_value = std::size_t{64} << 10;

tl::unexpected<failure> wrong(std::string_view name, std::string_view value, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + in_quotes(value) + ' ' + std::string(why));
}

template <class Number>
std::optional<Number> whole_number(std::string_view digits) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

std::optional<line_range> lines_from(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = whole_number<std::size_t>(text.substr(0, dash));
  if (!first || *first == 0) return std::nullopt;
  if (dash == std::string_view::npos) return line_range{*first, first};
  if (dash + 1 == text.size()) return line_range{*first, std::nullopt};
  const auto last = whole_number<std::size_t>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return line_range{*first, last};
}

/// A date means its first second or, as an end, its last one.
std::optional<std::int64_t> moment_from(std::string_view text, bool is_end) {
  if (const auto seconds = whole_number<std::int64_t>(text)) return seconds;
  const auto time = model::parse_time(text);
  if (!time) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  constexpr std::size_t day_size = 10;
  constexpr std::int64_t rest_of_day = 86'399;
  return is_end && text.size() == day_size ? seconds + rest_of_day : seconds;
}

result<void> read_moment(std::optional<std::int64_t>& into, std::string_view name, const std::string& value) {
  into = moment_from(value, name == "until");
  if (!into)
    return wrong(name, value,
                 "is not a time. Write a date (2026-01-31), a date and time (2026-01-31T08:00:00Z) or seconds since 1970.");
  return {};
}

using reader = result<void> (*)(address&, const std::string&);

struct parameter {
  std::string_view name;
  std::vector<topic> of;
  reader read;
};

const std::vector<parameter>& parameters() {
  using enum topic;
  static const std::vector<parameter> all{
      {"format",
       {overview, branches, tags, log, commit, tree, diff, blame, history, stashes, worktrees, changes},
       [](address& into, const std::string& value) -> result<void> {
         into.is_json = value == "json";
         if (!into.is_json && value != "markdown") return wrong("format", value, "is not a format. Use markdown or json.");
         return {};
       }},
      {"cursor",
       {branches, tags, log, tree, history},
       [](address& into, const std::string& value) -> result<void> {
         into.cursor = value;
         return {};
       }},
      {"limit",
       {log, history},
       [](address& into, const std::string& value) -> result<void> {
         into.limit = whole_number<std::size_t>(value);
         if (!into.limit || *into.limit == 0 || *into.limit > most_a_page)
           return wrong("limit", value, "is not a number from 1 to " + std::to_string(most_a_page) + '.');
         return {};
       }},
      {"lines",
       {blob, blame},
       [](address& into, const std::string& value) -> result<void> {
         into.lines = lines_from(value);
         if (!into.lines)
           return wrong("lines", value, "is malformed. Write FIRST-LAST, FIRST- or LINE, counted from 1: lines=10-40.");
         return {};
       }},
      {"ref",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.ref = value;
         return check_revision(value, "ref");
       }},
      {"path",
       {log, diff, changes},
       [](address& into, const std::string& value) -> result<void> {
         into.path = value;
         while (into.path.ends_with('/')) into.path.pop_back();
         if (into.path.find('\0') != std::string::npos || into.path.starts_with('/'))
           return wrong("path", value, "is not a path below the top folder. Write it as it appears in tree listings.");
         return {};
       }},
      {"author",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.author = value;
         return {};
       }},
      {"grep",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.grep = value;
         return {};
       }},
      {"since", {log}, [](address& into, const std::string& value) { return read_moment(into.since, "since", value); }},
      {"until", {log}, [](address& into, const std::string& value) { return read_moment(into.until, "until", value); }},
  };
  return all;
}

std::string names_for(topic what) {
  std::string names;
  for (const auto& one : parameters())
    if (std::find(one.of.begin(), one.of.end(), what) != one.of.end())
      names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

}  // namespace

result<void> read_parameters(address& into, std::string_view query) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    const auto& all = parameters();
    const auto known = std::find_if(all.begin(), all.end(), [&](const parameter& one) {
      return one.name == name && std::find(one.of.begin(), one.of.end(), into.what) != one.of.end();
    });
    if (known == all.end())
      return fail(errc::resource_not_found, std::string(name_of(into.what)) + " has no parameter " + in_quotes(name) +
                                                ". Its parameters: " + names_for(into.what) + '.');
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return fail(errc::invalid_argument, std::string(name) + ": it is given more than once. Give it once.");
    seen.push_back(name);
    const auto value = percent_decode(written);
    if (!value || value->size() > longest_value)
      return fail(errc::invalid_argument, std::string(name) + ": its value is malformed or too long.");
    // An empty value counts as absent, as in the expansion of a template.
    if (value->empty()) continue;
    if (auto read = known->read(into, *value); !read) return read;
  }
  return {};
}

namespace {

constexpr std::array<std::string_view, 13> topic_names{"overview", "branches",  "tags",   "log",   "commit",
                                                       "tree",     "blob",      "diff",   "blame", "history",
                                                       "stashes",  "worktrees", "changes"};

tl::unexpected<failure> not_found(std::string_view why) {
  return fail(errc::resource_not_found,
              std::string(why) +
                  " Supported: git://REPO/ followed by overview, branches, tags, log, commit/REV, tree/REV/PATH, "
                  "blob/REV/PATH, diff/FROM..TO, blame/REV/PATH, history/REV/PATH, stashes, worktrees or changes.");
}

bool is_slug(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool takes_revision(topic what) noexcept {
  return what == topic::commit || what == topic::tree || what == topic::blob || what == topic::blame || what == topic::history;
}
bool takes_path(topic what) noexcept { return takes_revision(what) && what != topic::commit; }

/// Removes the part before the next slash from the front, and returns it.
std::string_view take_segment(std::string_view& rest) noexcept {
  const auto segment = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
  return segment;
}

result<std::string> revision_from(std::string_view written, std::string_view argument) {
  auto text = percent_decode(written);
  if (!text) return tl::unexpected(std::move(text.error()));
  HONDANA_TRY(check_revision(*text, argument));
  return text;
}

/// An escaped slash would be part of a name, and git has no such names.
result<std::string> path_from(std::string_view written) {
  while (written.ends_with('/')) written.remove_suffix(1);
  std::string path;
  for (auto rest = written; !rest.empty();) {
    const auto name = percent_decode(take_segment(rest));
    if (!name) return tl::unexpected(name.error());
    if (name->empty() || name->find('/') != std::string::npos)
      return fail(errc::resource_not_found,
                  "path: one of its names is empty or contains %2F. Write the path as it appears in tree listings.");
    path += (path.empty() ? "" : "/") + *name;
  }
  return path;
}

result<void> read_ends(address& into, std::string_view written) {
  const auto dots = written.find("..");
  if (dots == std::string_view::npos)
    return fail(errc::invalid_argument, "from, to: write a diff as diff/FROM..TO, with two dots between.");
  auto behind = written.substr(dots + 2);
  if (behind.starts_with('.'))
    return fail(errc::invalid_argument,
                "from, to: FROM...TO, from the merge base, is not supported. Find the merge base in the log, and read "
                "diff/BASE..TO with two dots.");
  auto from = revision_from(written.substr(0, dots), "from");
  if (!from) return tl::unexpected(std::move(from.error()));
  auto to = revision_from(behind, "to");
  if (!to) return tl::unexpected(std::move(to.error()));
  // Next to the two dots between the names, it would be unclear which dots belong to a name. Git has no such names.
  if (from->ends_with('.') || to->starts_with('.'))
    return fail(errc::invalid_argument, "from, to: FROM must not end with a dot, and TO must not begin with one.");
  into.from = std::move(*from);
  into.to = std::move(*to);
  return {};
}

void append_parameter(std::string& to, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  to += to.find('?') == std::string::npos ? '?' : '&';
  to += name;
  to += '=';
  to += percent_encode(value);
}

std::string number_or_nothing(const auto& number) { return number ? std::to_string(*number) : std::string(); }

}  // namespace

std::string_view name_of(topic what) noexcept { return topic_names.at(static_cast<std::size_t>(what)); }

result<address> parse_address(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "git" || !parts.authority || parts.fragment) return not_found("This is not the URI of a repository.");
  if (!is_slug(*parts.authority)) return not_found("The name of a repository contains only a-z, 0-9 and -.");
  auto rest = parts.path;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  const auto named = std::find(topic_names.begin(), topic_names.end(), take_segment(rest));
  if (named == topic_names.end()) return not_found("A repository has no entry of that name.");
  address one{std::string(*parts.authority), static_cast<topic>(named - topic_names.begin())};
  if (takes_revision(one.what)) {
    HONDANA_TRY(auto rev, revision_from(take_segment(rest), "rev"));
    one.rev = std::move(rev);
  }
  if (one.what == topic::diff) HONDANA_TRY(read_ends(one, take_segment(rest)));
  if (takes_path(one.what)) {
    auto path = path_from(rest);
    if (!path) return tl::unexpected(std::move(path.error()));
    one.path = std::move(*path);
    if (one.path.empty() && one.what != topic::tree)
      return fail(errc::invalid_argument, "path: it is missing. Write the file's path after the revision.");
  } else if (!rest.empty()) {
    return not_found("That entry has nothing below it.");
  }
  HONDANA_TRY(read_parameters(one, parts.query.value_or(std::string_view())));
  return one;
}

std::string prefix_of(std::string_view repo) { return "git://" + std::string(repo) + '/'; }

std::string written_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (uri::file_path_characters.has(c)) {
      out += c;
    } else {
      uri::append_escape(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string uri_of(const address& one) {
  auto uri = prefix_of(one.repo);
  uri += name_of(one.what);
  if (takes_revision(one.what)) uri += '/' + percent_encode(one.rev);
  if (one.what == topic::diff) uri += '/' + percent_encode(one.from) + ".." + percent_encode(one.to);
  if (takes_path(one.what) && !one.path.empty()) uri += '/' + written_path(one.path);
  append_parameter(uri, "ref", one.ref);
  if (!takes_path(one.what)) append_parameter(uri, "path", one.path);
  append_parameter(uri, "author", one.author);
  append_parameter(uri, "grep", one.grep);
  append_parameter(uri, "since", number_or_nothing(one.since));
  append_parameter(uri, "until", number_or_nothing(one.until));
  if (one.lines)
    append_parameter(uri, "lines",
                     one.lines->last == one.lines->first
                         ? std::to_string(one.lines->first)
                         : std::to_string(one.lines->first) + '-' + number_or_nothing(one.lines->last));
  append_parameter(uri, "limit", number_or_nothing(one.limit));
  append_parameter(uri, "cursor", one.cursor);
  if (one.is_json) append_parameter(uri, "format", "json");
  return uri;
}

namespace {

constexpr std::string_view markdown = "text/markdown";

resource_template template_of(std::string uri, std::string name, std::string title, std::string description,
                              std::string_view type = markdown) {
  resource_template one;
  one.uriTemplate = std::move(uri);
  one.name = std::move(name);
  one.title = std::move(title);
  one.description = std::move(description);
  one.mimeType = type;
  return one;
}

}  // namespace

std::vector<resource_template> address_templates() {
  return {
      template_of("git://{repo}/overview{?format}", "git-overview", "Overview of a repository",
                  "Branch, state of the work tree, remotes and the latest commits. format=json for programs."),
      template_of("git://{repo}/branches{?format,cursor}", "git-branches", "Branches",
                  "Local and remote branches with their commits, and how far each is ahead of or behind its upstream."),
      template_of("git://{repo}/tags{?format,cursor}", "git-tags", "Tags", "Tags, their targets and their messages."),
      template_of("git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}", "git-log", "Log",
                  "Commits reachable from ref (default HEAD), newest first. path: a file or folder; author and grep: "
                  "case-insensitive RE2 expressions, like git log -i -E; since and until: dates; limit: 1 to 1000."),
      template_of("git://{repo}/commit/{rev}{?format}", "git-commit", "Commit",
                  "Message, author, committer, changed files and patch against the first parent. rev: a branch (feature%2Fx), "
                  "a tag, HEAD, an id or the beginning of one, optionally with ~N or ^N."),
      template_of("git://{repo}/tree/{rev}{?cursor,format}", "git-tree", "Top folder at a revision",
                  "The contents of the top folder at a revision."),
      template_of("git://{repo}/tree/{rev}/{+path}{?cursor,format}", "git-folder", "Folder at a revision",
                  "The contents of a folder at a revision."),
      template_of("git://{repo}/blob/{rev}/{+path}{?lines}", "git-blob", "File at a revision",
                  "A file at a revision; lines=10-40 for a part of it.", ""),
      template_of("git://{repo}/diff/{from}..{to}{?path,format}", "git-diff", "Difference between two revisions",
                  "Changed files and patch from one revision to another; path: only that file or folder."),
      template_of("git://{repo}/blame/{rev}/{+path}{?lines,format}", "git-blame", "Blame",
                  "Which commit wrote each line of a file."),
      template_of("git://{repo}/history/{rev}/{+path}{?limit,cursor,format}", "git-history", "History of a file",
                  "Commits that changed a file, newest first, across renames."),
      template_of("git://{repo}/stashes{?format}", "git-stashes", "Stashes", "Stashed changes."),
      template_of("git://{repo}/worktrees{?format}", "git-worktrees", "Work trees",
                  "Work trees linked to the repository, and what each has checked out."),
      template_of("git://{repo}/changes{?path,format}", "git-changes", "Uncommitted changes",
                  "Staged, unstaged and untracked changes in the work tree, with patches; path: only that file or folder."),
  };
}

}  // namespace hondana::git
