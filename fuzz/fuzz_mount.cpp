/// Fuzzes what a mounted server says on its way to our peers: its URIs, texts, templates and the ids of mounts. One piece a
/// line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "sources/mcp/mount_chain.hpp"
#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/upstream_lists.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace {

using namespace hondana::mcp;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view ellipsis = "…";

void check_text(std::string_view text, std::size_t most) {
  for (const bool has_lines : {false, true}) {
    const auto said = sanitize(text, most, has_lines);
    require(said.size() <= std::max(most, ellipsis.size()));
    require(hondana::json::is_utf8(said) && sanitize(said, said.size(), has_lines) == said);
    for (const char c : said) require((c >= ' ' || c < 0 || (has_lines && (c == '\n' || c == '\t'))) && c != '\x7f');
  }
  for (const char c : sanitize_media_type(text)) require(c >= ' ' && c <= '~');
}

void check_uri(const uri_mapping& names, const std::string& theirs) {
  const auto ours = names.to_local(theirs);
  if (!ours) {
    require(!ours.error().public_text.empty());
    return;
  }
  require(ours->starts_with(names.prefix()) && ours->size() > names.prefix().size());
  require(hondana::canonical_uri(*ours).value() == *ours);
  // What is derived from ours names the same thing when it comes back.
  require(names.to_local(names.to_remote(*ours).value()).value() == *ours);
}

void check_rules(const std::string& theirs) {
  static const uri_filter without({}, {"**/*.key"});
  const auto bars = [](const std::string& uri) { return !without.rejection_reason(uri).empty(); };
  // However a resource is spelled, and whatever part of it is named.
  if (const auto plain = hondana::canonical_uri(theirs); plain && bars(*plain)) require(bars(theirs));
  if (theirs.find_first_of("?#") == std::string::npos && bars(theirs)) require(bars(theirs + "?x/y") && bars(theirs + "#x/y"));
}

void check_shelf(const uri_mapping& names, const std::vector<std::string>& lines) {
  server_lists from;
  for (const auto& one : lines) {
    from.entries.push_back({.uri = one, .name = one, .title = one, .description = one, .mime_type = one});
    from.templates.push_back({.uri_template = one, .name = one});
    hondana::skill skill;
    skill.uri = one;
    skill.files = std::vector<hondana::skill_file>{{one, {}, 0}};
    from.skills.push_back(std::move(skill));
  }
  for (auto& one : from.entries) sanitize_fields(one, true);
  for (auto& one : from.templates) sanitize_fields(one, true);
  for (auto& one : from.skills) sanitize_fields(one);
  const list_snapshot made(from, names, uri_filter({}, {"**/*.key"}));
  std::string last;
  for (std::size_t i = 0; i < made.entries().size(); ++i) {
    const auto entry = made.entries().at(i);
    require(hondana::uri_covers(names.prefix(), entry.uri) && hondana::compare_by_segment(last, entry.uri) < 0);
    require(!entry.name.empty() && entry.name.size() <= max_line_bytes);
    const auto spelled = made.remote_uri_of(entry.uri);
    const auto asked = spelled ? *spelled : names.to_remote(entry.uri).value();
    require(std::find(lines.begin(), lines.end(), asked) != lines.end());
    last = entry.uri;
  }
  for (const auto& one : made.templates()) require(hondana::uri_template::compile(one.uri_template).has_value());
  require(made.is_equivalent(list_snapshot(std::move(from), names, uri_filter({}, {"**/*.key"}))));
}

void check_chain(std::string_view text, const std::vector<std::string>& mounts) {
  mount_chain one(text, text);
  (void)one.find_cycle(mounts);
  require(one.outgoing_ids().size() <= max_mounts + 2 && one.outgoing_ids().front() == one.id());
  require(one.find_cycle(one.outgoing_ids()).empty() == false);
  const auto variable = one.environment_value();
  require(variable.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789,") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const uri_mapping names("mcp://far/docs/");
  check_text(text, size / 2);
  check_text(text, 16);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size() && lines.size() < 64;) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (const auto& one : lines) check_uri(names, one);
  for (const auto& one : lines) check_rules(one);
  check_shelf(names, lines);
  check_chain(lines.front(), lines);
  return 0;
}
