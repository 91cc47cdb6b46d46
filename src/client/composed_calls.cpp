/// Calls of the client that take more than one request: filtered lists, single entries, tool calls, and verified files of
/// skills.
#include "client/composed_calls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/bytes/sha256.hpp"
#include "base/value/value.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "server/catalog/list_filter.hpp"
#include "text/front_matter/front_matter.hpp"

namespace hondana::inline v0 {
namespace {

catalog::filter made_ready(const entry_filter& wanted) {
  model::resource_filter out;
  out.uri_prefix = wanted.uri_prefix;
  out.uri_pattern = wanted.uri_pattern;
  out.mime_type = ascii::in_lower_case(wanted.mime_type);
  out.kind = wanted.kind;
  out.audience = wanted.audience;
  out.min_priority = wanted.min_priority;
  out.modified_since = wanted.modified_since;
  out.text = wanted.text;
  return catalog::filter(std::move(out));
}

/// Sorts stably, without the temporary buffer that `std::stable_sort` allocates.
template <class Key>
void sort_by(std::vector<resource>& entries, Key comes_before) {
  std::vector<std::pair<resource, std::size_t>> places;
  places.reserve(entries.size());
  for (auto& one : entries) places.emplace_back(std::move(one), places.size());
  std::sort(places.begin(), places.end(), [&comes_before](const auto& a, const auto& b) {
    if (comes_before(a.first, b.first)) return true;
    return !comes_before(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t at = 0; at < places.size(); ++at) entries[at] = std::move(places[at].first);
}

}  // namespace

bool fits(const resource& entry, const entry_filter& wanted) {
  std::uint64_t steps = 0;
  return made_ready(wanted).passes(entry, steps);
}

void sort_entries(std::vector<resource>& entries, entry_order order) {
  switch (order) {
    case entry_order::as_listed:
      return;
    case entry_order::name:
      return sort_by(entries,
                     [](const resource& a, const resource& b) { return std::tie(a.name, a.uri) < std::tie(b.name, b.uri); });
    case entry_order::priority:
      return sort_by(entries, [](const resource& a, const resource& b) {
        return a.annotations.priority.value_or(-1) > b.annotations.priority.value_or(-1);
      });
    case entry_order::recency:
      return sort_by(entries, [](const resource& a, const resource& b) {
        if (!b.annotations.lastModified) return a.annotations.lastModified.has_value();
        return a.annotations.lastModified && *a.annotations.lastModified > *b.annotations.lastModified;
      });
  }
}

}  // namespace hondana::inline v0

namespace hondana::outbound {

result<page<resource>> resource_page(engine& of, const std::optional<std::string>& cursor, const entry_filter& wanted,
                                     const call_options& how) {
  HONDANA_TRY(const auto can, of.need(&server_description::has_resources, "resources", how));
  const bool is_open = wanted == entry_filter{};
  const bool is_theirs = !is_open && can.has_versions;
  HONDANA_TRY(auto got,
              of.call({.asked = asking::list_resources(cursor, is_theirs ? &wanted : nullptr), .is_kept = true}, how));
  auto out = asking::resources_of(got.result());
  if (!out || is_open || is_theirs) return out;
  std::uint64_t steps = 0;
  const auto filter = made_ready(wanted);
  std::erase_if(out->items, [&](const resource& one) { return !filter.passes(one, steps); });
  return out;
}

result<resource> describe(engine& of, std::string_view uri, const call_options& how) {
  HONDANA_TRY(const auto can, of.need(&server_description::has_resources, "resources", how));
  if (can.has_versions) {
    // `resources/get` sends the content, too. This sink discards it.
    const auto dropped = [](std::size_t, std::string_view) { return result<void>(); };
    HONDANA_TRY(auto got, of.call({.asked = asking::get_resource(uri), .content = dropped}, how));
    return asking::resource_of(got.result());
  }
  const entry_filter all;
  const time_left left(how.time.value_or(of.options().call_time));
  auto page = how;
  paged<resource> list([&](const std::optional<std::string>& cursor) -> result<hondana::page<resource>> {
    if (left.is_over()) return fail(errc::timed_out, "the server's list did not end in time");
    page.time = left.time();
    return resource_page(of, cursor, all, page);
  });
  for (const auto& one : list) {
    if (!one) return tl::unexpected(one.error());
    if (one->uri == uri) return *one;
  }
  return fail(errc::resource_not_found, "the server does not list " + std::string(uri.substr(0, 500)));
}

namespace {

/// The headers that repeat arguments of a tool call. Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
std::vector<std::pair<std::string, std::string>> repeated(const std::vector<model::mirrored_argument>& mirrored,
                                                          const value& arguments) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : mirrored) {
    const auto* given = model::argument_at(arguments, one.path);
    if (given == nullptr) continue;
    std::string text;
    if (const auto* plain = given->as_string()) {
      text = *plain;
    } else if (const auto flag = given->as_boolean()) {
      text = *flag ? "true" : "false";
    } else if (const auto number = given->as_integer()) {
      text = std::to_string(*number);
    } else {
      continue;  // not a string, boolean or integer: the server rejects such an argument
    }
    out.push_back(asking::argument_header(one.header, text));
  }
  return out;
}

}  // namespace

result<called> call_tool(engine& of, std::string_view name, const value& arguments, const call_options& how) {
  if (!arguments.is_null() && arguments.as_object() == nullptr)
    return fail(errc::invalid_argument, "the arguments of a tool must be an object");
  HONDANA_TRY(of.need(&server_description::has_tools, "tools", how));
  for (bool is_again = false;; is_again = true) {
    request what{.asked = asking::call_tool(name, arguments)};
    if (of.has_headers()) {
      HONDANA_TRY(const auto known, of.find_headers(name, is_again, how));
      if (known) what.headers = repeated(*known, arguments);
    }
    auto got = of.call(std::move(what), how);
    if (got) return asking::called_of(got->got.result);
    // The tool may require other headers than when it was listed: list it again and retry once.
    const auto& why = got.error();
    if (is_again || !asking::wants_other_headers(why)) return tl::unexpected(why);
  }
}

result<value> any_request(engine& of, std::string_view method, const value& params, const call_options& how) {
  if (!params.is_null() && params.as_object() == nullptr)
    return fail(errc::invalid_argument, "params must be an object or null");
  HONDANA_TRY(auto got, of.call({.asked = asking::any(method, params)}, how));
  auto taken = take_value(got.got.result);
  if (!taken) return fail(errc::broken_protocol, taken.error().public_text);
  return taken;
}

namespace {

std::string named(std::string_view uri) { return '"' + std::string(uri.substr(0, 500)) + '"'; }

tl::unexpected<failure> unlike(std::string_view uri, const std::string& what) {
  return fail(errc::broken_protocol,
              "the skill's file " + named(uri) + " is rejected because it differs from its announcement: " + what);
}

/// The names of the fields whose values differ between the list and the file; empty if all are equal.
std::string difference(const value& announced, const value& found) {
  std::string out;
  const auto add = [&out](const std::string& name) { out += (out.empty() ? "" : ", ") + name.substr(0, 100); };
  for (const auto& [name, one] : *announced.as_object()) {
    const auto* other = found.find(name);
    if (other == nullptr || !(*other == one)) add(name);
  }
  for (const auto& [name, one] : *found.as_object()) {
    if (announced.find(name) == nullptr) add(name);
  }
  return out;
}

/// Compares the front matter of a SKILL.md with its entry. Errors: broken_protocol when they differ. Spec: the extension
/// io.modelcontextprotocol/skills, #integrity-and-verification.
result<void> check_front(const skill& whose, std::string_view uri, const std::string& bytes) {
  const auto found = front_matter::parse_frontmatter(std::string_view(bytes).substr(0, front_matter::front_bytes));
  if (!found) return unlike(uri, "its frontmatter cannot be read: " + found.error().public_text);
  if (whose.frontmatter.as_object() == nullptr || found->as_object() == nullptr) return unlike(uri, "it has no frontmatter");
  if (const auto fields = difference(whose.frontmatter, *found); !fields.empty())
    return unlike(uri, "its frontmatter differs in " + fields);
  return {};
}

}  // namespace

result<read_answer> read_skill_file(engine& of, const skill& whose, std::string_view uri, const call_options& how) {
  const skill_file* entry = nullptr;
  if (whose.files) {
    const auto found =
        std::find_if(whose.files->begin(), whose.files->end(), [uri](const skill_file& one) { return one.uri == uri; });
    if (found == whose.files->end())
      return fail(errc::invalid_argument,
                  named(uri) + " is not a file of the skill " + named(whose.uri) + "; its entry lists the files");
    entry = &*found;
  }
  auto got = of.read(uri, {}, {}, how);
  if (!got) return got;
  if (got->items.size() != 1) return unlike(uri, "expected one content, got " + std::to_string(got->items.size()));
  const auto& content = got->items.front().bytes;
  if (entry != nullptr) {
    if (content.size() != entry->size)
      return unlike(uri, std::to_string(content.size()) + " bytes instead of " + std::to_string(entry->size));
    bytes::sha256 digest;
    digest.feed(content);
    if (const auto made = digest.finish(); made != entry->digest)
      return unlike(uri, "its digest is " + made + " instead of " + entry->digest);
  }
  if (uri == whose.uri) {
    HONDANA_TRY(check_front(whose, uri, content));
  }
  return got;
}

}  // namespace hondana::outbound
