/// Narrowing lists as the line says.
#include "app/cli/verbs/asked_entries.hpp"

#include <utility>

#include <hondana/uri.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/terminal/progress.hpp"
#include "app/cli/verbs/meanings.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_entries = 1'000'000;

bool is_no_folder(const failure& why) {
  return why.code == errc::unsupported || why.code == errc::resource_not_found || why.code == errc::invalid_argument ||
         why.code == errc::refused;
}

/// What one list gives, entry by entry, until `take` says no more. Errors: those of the list.
result<void> each(paged<resource> list, const taker& take) {
  for (const auto& one : list) {
    if (!one) return tl::unexpected(one.error());
    if (!take(*one)) return {};
  }
  return {};
}

/// What the flags `--audience`, `--min-priority` and `--filter` want.
entry_filter wanted_by(const command_line& line) {
  entry_filter out;
  if (const auto text = line.text(audience_flag); !text.empty()) out.audience = text == "user" ? role::user : role::assistant;
  out.min_priority = line.number(min_priority_flag);
  const auto text = line.text(filter_flag);
  if (text.find_first_of("*?[") == std::string::npos) {
    out.text = text;
  } else {
    out.uri_pattern = text.find("://") == std::string::npos ? "**/" + text : text;
  }
  return out;
}

}  // namespace

result<void> each_entry(const task& what, bool all_below, const taker& take) {
  auto& server = what.with.server();
  const auto wanted = wanted_by(what.line);
  auto below = what.with.file_uri();
  if (!what.line.word(0).empty()) {
    const auto word = what.line.word(0);
    if ((word.starts_with("http://") || word.starts_with("https://")) && !what.line.has(on_flag) && what.line.server().empty())
      return fail(errc::invalid_argument, "Name a server with --on. Did you mean 'hondana " +
                                              std::string(what.line.entry().name) + " --on " + word + "'?");
    auto uri = what.with.uri_of(word);
    if (uri) uri = as_listed(server.server(), *uri);
    if (!uri) return tl::unexpected(std::move(uri.error()));
    below = std::move(*uri);
    if (!all_below && server.server().has_folders) {
      bool has_begun = false;
      auto done = each(server.children(below, what.with.how()), [&](resource one) {
        has_begun = true;
        return !fits(one, wanted) || take(std::move(one));
      });
      if (done || has_begun || !is_no_folder(done.error())) return done;
    }
  }
  auto asked = wanted;
  // Others are not asked to narrow their lists, and spell URIs as they like.
  if (server.server().has_versions) asked.uri_prefix = below;
  const auto canonical = canonical_uri(below).value_or(below);
  bool is_any = below.empty();
  auto done = each(server.resources(asked, what.with.how()), [&](resource one) {
    // A prefix of characters holds more than what lies below it.
    if (!below.empty() && !covers(below, one.uri) && !covers(canonical, one.uri)) return true;
    is_any = true;
    return take(std::move(one));
  });
  if (done && !is_any && wanted == entry_filter{})
    return tl::unexpected(
        blamed_on(below, {errc::resource_not_found, "the server lists no resources at or below " + below, {}}));
  return done;
}

result<std::vector<resource>> all_entries(const task& what, bool all_below) {
  progress_line shown(what.shown.shows_errors && !what.line.has(quiet_flag), progress_line::unit::entries, what.shown.width);
  std::vector<resource> out;
  auto done = each_entry(what, all_below, [&](resource one) {
    out.push_back(std::move(one));
    shown.advance(1);
    return out.size() < most_entries;
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  if (out.size() == most_entries)
    return fail(errc::response_too_large, "the list has a million entries or more; narrow it with a URI or --filter");
  return out;
}

}  // namespace hondana::cli
