/// Reading and writing URIs by hand, strictly.
#include "sources/git/address.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hondana/uri.hpp>

#include "base/uri/escapes.hpp"
#include "base/uri/octet_set.hpp"
#include "sources/git/parameters.hpp"
#include "sources/git/revision.hpp"

namespace hondana::git {
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

/// Takes what stands before the next slash off the front.
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

/// An escaped slash stays in its name, and so means no path that git could have.
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
  // Beside the two between them it could not be told which dots are whose; git has no such names.
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

}  // namespace hondana::git
