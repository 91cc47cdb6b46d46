/// Calls of `client` that do more than send one request: filtered lists, single entries, tool calls, verified files of skills,
/// and requests of any method.
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

catalog::list_filter compile_filter(const entry_filter& filter) {
  model::resource_filter out;
  out.uri_prefix = filter.uri_prefix.value_or(std::string());
  out.uri_pattern = filter.uri_pattern.value_or(std::string());
  out.mime_type = ascii::to_lower(filter.mime_type.value_or(std::string()));
  out.kind = filter.kind.value_or(std::string());
  out.audience = filter.audience;
  out.min_priority = filter.min_priority;
  out.modified_since = filter.modified_since;
  out.text = filter.text.value_or(std::string());
  return catalog::list_filter(std::move(out));
}

/// Sorts stably, without the temporary buffer that `std::stable_sort` allocates.
template <class Key>
void sort_by(std::vector<resource>& entries, Key comes_before) {
  std::vector<std::pair<resource, std::size_t>> places;
  places.reserve(entries.size());
  for (auto& entry : entries) places.emplace_back(std::move(entry), places.size());
  std::sort(places.begin(), places.end(), [&comes_before](const auto& a, const auto& b) {
    if (comes_before(a.first, b.first)) return true;
    return !comes_before(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t i = 0; i < places.size(); ++i) entries[i] = std::move(places[i].first);
}

}  // namespace

bool matches_filter(const resource& entry, const entry_filter& filter) {
  std::uint64_t steps = 0;
  return compile_filter(filter).matches(entry, steps);
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
        if (!b.annotations.last_modified) return a.annotations.last_modified.has_value();
        return a.annotations.last_modified && *a.annotations.last_modified > *b.annotations.last_modified;
      });
  }
}

}  // namespace hondana::inline v0

namespace hondana::outbound {

result<list_page<resource>> resource_page(engine& engine, const std::optional<std::string>& cursor, const entry_filter& filter,
                                          const call_options& options) {
  HONDANA_TRY(const auto server, engine.require(&server_description::has_resources, "resources", options));
  const bool is_unfiltered = filter == entry_filter{};
  const bool is_server_filtered = !is_unfiltered && server.has_versions;
  HONDANA_TRY(auto response, engine.call({.message = asking::list_resources(cursor, is_server_filtered ? &filter : nullptr),
                                          .is_cacheable = true},
                                         options));
  auto out = asking::parse_resources(response.result());
  if (!out || is_unfiltered || is_server_filtered) return out;
  std::uint64_t steps = 0;
  const auto compiled = compile_filter(filter);
  std::erase_if(out->items, [&](const resource& entry) { return !compiled.matches(entry, steps); });
  return out;
}

result<resource> describe(engine& engine, std::string_view uri, const call_options& options) {
  HONDANA_TRY(const auto server, engine.require(&server_description::has_resources, "resources", options));
  if (server.has_versions) {
    // `resources/get` sends the content, too. This sink discards it.
    const auto discard = [](std::size_t, std::string_view) { return result<void>(); };
    HONDANA_TRY(auto response, engine.call({.message = asking::get_resource(uri), .content = discard}, options));
    return asking::parse_resource(response.result());
  }
  const entry_filter no_filter;
  const deadline_timer deadline(options.timeout.value_or(engine.options().call_timeout));
  auto page_options = options;
  paged_range<resource> list([&](const std::optional<std::string>& cursor) -> result<hondana::list_page<resource>> {
    if (deadline.has_expired()) return fail(errc::timed_out, "the server's list did not end in time");
    page_options.timeout = deadline.remaining();
    return resource_page(engine, cursor, no_filter, page_options);
  });
  for (const auto& entry : list) {
    if (!entry) return tl::unexpected(entry.error());
    if (entry->uri == uri) return *entry;
  }
  return fail(errc::resource_not_found, "the server does not list " + std::string(uri.substr(0, 500)));
}

namespace {

/// The headers that repeat arguments of a tool call. Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
std::vector<std::pair<std::string, std::string>> mirror_arguments(const std::vector<model::mirrored_argument>& mirrored,
                                                                  const value& arguments) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& mirror : mirrored) {
    const auto* argument = model::find_argument(arguments, mirror.path);
    if (argument == nullptr) continue;
    std::string text;
    if (const auto* string = argument->as_string()) {
      text = *string;
    } else if (const auto flag = argument->as_boolean()) {
      text = *flag ? "true" : "false";
    } else if (const auto number = argument->as_integer()) {
      text = std::to_string(*number);
    } else {
      continue;  // not a string, boolean or integer: the server rejects such an argument
    }
    out.push_back(asking::argument_header(mirror.header, text));
  }
  return out;
}

}  // namespace

result<tool_response> call_tool(engine& engine, std::string_view name, const value& arguments, const call_options& options) {
  if (!arguments.is_null() && arguments.as_object() == nullptr)
    return fail(errc::invalid_argument, "the arguments of a tool must be an object");
  HONDANA_TRY(engine.require(&server_description::has_tools, "tools", options));
  for (bool is_again = false;; is_again = true) {
    client_request request{.message = asking::call_tool(name, arguments)};
    if (engine.has_headers()) {
      HONDANA_TRY(const auto headers, engine.find_headers(name, is_again, options));
      if (headers) request.headers = mirror_arguments(*headers, arguments);
    }
    auto response = engine.call(std::move(request), options);
    if (response) return asking::parse_tool_response(response->response.result);
    // The tool may require other headers than when it was listed: list it again and retry once.
    const auto& error = response.error();
    if (is_again || !asking::is_header_mismatch(error)) return tl::unexpected(error);
  }
}

result<value> send_request(engine& engine, std::string_view method, const value& params, const call_options& options) {
  if (!params.is_null() && params.as_object() == nullptr)
    return fail(errc::invalid_argument, "params must be an object or null");
  HONDANA_TRY(auto response, engine.call({.message = asking::custom_request(method, params)}, options));
  auto extracted = copy_value(response.response.result);
  if (!extracted) return fail(errc::protocol_error, extracted.error().public_text);
  return extracted;
}

namespace {

std::string quote(std::string_view uri) { return '"' + std::string(uri.substr(0, 500)) + '"'; }

tl::unexpected<failure> mismatch(std::string_view uri, const std::string& detail) {
  return fail(errc::protocol_error,
              "the skill's file " + quote(uri) + " is rejected because it differs from its announcement: " + detail);
}

/// The names of the fields whose values differ between the list and the file; empty if all are equal.
std::string difference(const value& announced, const value& actual) {
  std::string out;
  const auto add = [&out](const std::string& name) { out += (out.empty() ? "" : ", ") + name.substr(0, 100); };
  for (const auto& [name, field] : *announced.as_object()) {
    const auto* other = actual.find(name);
    if (other == nullptr || !(*other == field)) add(name);
  }
  for (const auto& [name, ignored] : *actual.as_object()) {
    if (announced.find(name) == nullptr) add(name);
  }
  return out;
}

/// Compares the front matter of a SKILL.md with its entry. Errors: protocol_error when they differ. Spec: the extension
/// io.modelcontextprotocol/skills, #integrity-and-verification.
result<void> check_frontmatter(const skill& skill, std::string_view uri, const std::string& bytes) {
  const auto actual =
      front_matter::parse_frontmatter(std::string_view(bytes).substr(0, front_matter::front_matter_prefix_bytes));
  if (!actual) return mismatch(uri, "its frontmatter cannot be read: " + actual.error().public_text);
  if (skill.frontmatter.as_object() == nullptr || actual->as_object() == nullptr) return mismatch(uri, "it has no frontmatter");
  if (const auto fields = difference(skill.frontmatter, *actual); !fields.empty())
    return mismatch(uri, "its frontmatter differs in " + fields);
  return {};
}

}  // namespace

result<read_response> read_skill_file(engine& engine, const skill& skill, std::string_view uri, const call_options& options) {
  const skill_file* entry = nullptr;
  if (skill.files) {
    const auto position =
        std::find_if(skill.files->begin(), skill.files->end(), [uri](const skill_file& file) { return file.uri == uri; });
    if (position == skill.files->end())
      return fail(errc::invalid_argument,
                  quote(uri) + " is not a file of the skill " + quote(skill.uri) + "; its entry lists the files");
    entry = &*position;
  }
  auto response = engine.read(uri, {}, {}, options);
  if (!response) return response;
  if (response->contents.size() != 1)
    return mismatch(uri, "expected one content, got " + std::to_string(response->contents.size()));
  const auto& content = response->contents.front().bytes;
  if (entry != nullptr) {
    if (content.size() != entry->size)
      return mismatch(uri, std::to_string(content.size()) + " bytes instead of " + std::to_string(entry->size));
    bytes::sha256 digest;
    digest.update(content);
    if (const auto actual = digest.finish(); actual != entry->digest)
      return mismatch(uri, "its digest is " + actual + " instead of " + entry->digest);
  }
  if (uri == skill.uri) {
    HONDANA_TRY(check_frontmatter(skill, uri, content));
  }
  return response;
}

}  // namespace hondana::outbound
