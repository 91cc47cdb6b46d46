/// The tools list_resources and search_resources, and the parts that they share with read_resource.
#include "server/tools/resource_tools.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "protocol/model/iso_8601.hpp"
#include "server/catalog/list_filter.hpp"

namespace hondana::tools {
namespace {

/// `text/plain` unchanged, `text/` for `text/*`; empty for other texts.
std::string normalize_type(std::string_view text) {
  auto type = ascii::to_lower(text);
  if (type.ends_with('/')) return {};
  if (type.ends_with("/*")) type.pop_back();
  const bool is_valid_type =
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~' && c != ';' && c != '*'; });
  return is_valid_type && type.front() != '/' && std::count(type.begin(), type.end(), '/') == 1 ? type : std::string();
}

}  // namespace

value property(const char* type, const char* description, value::object extra) {
  value::object schema{{"type", type}, {"description", description}};
  for (auto& member : extra) schema.push_back(std::move(member));
  return schema;
}

value::object filter_properties() {
  return {
      {"uriPrefix", property("string", "Only resources whose URI starts with this, e.g. file:///home/me/project/docs/",
                             {{"minLength", 1}, {"maxLength", 8192}})},
      {"mimeType", property("string", "Only resources of this media type, e.g. text/markdown, or text/* for all text types",
                            {{"minLength", 1}, {"maxLength", 256}})},
      {"minPriority", property("number", "Only resources with at least this priority, e.g. 0.5; 1 is essential, 0 is optional",
                               {{"minimum", 0}, {"maximum", 1}})},
      {"modifiedSince", property("string", "Only resources changed since this time, e.g. 2025-01-12 or 2025-01-12T15:00:58Z",
                                 {{"maxLength", 64}})}};
}

result<model::resource_filter> parse_filter(const value& arguments) {
  model::resource_filter criteria;
  if (const auto* prefix = arguments.find("uriPrefix")) {
    criteria.uri_prefix = *prefix->as_string();
    const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
    if (!std::all_of(criteria.uri_prefix.begin(), criteria.uri_prefix.end(), is_visible)) {
      return fail(errc::invalid_argument,
                  "uriPrefix: expected the start of a URI as list_resources returns it: visible ASCII, other characters "
                  "percent-encoded.");
    }
  }
  if (const auto* type = arguments.find("mimeType")) {
    criteria.mime_type = normalize_type(*type->as_string());
    if (criteria.mime_type.empty()) {
      return fail(errc::invalid_argument,
                  "mimeType: expected type/subtype without parameters, such as text/markdown or text/*.");
    }
  }
  if (const auto* min_priority = arguments.find("minPriority")) criteria.min_priority = min_priority->as_number();
  if (const auto* modified_since = arguments.find("modifiedSince")) {
    criteria.modified_since = model::parse_time(*modified_since->as_string());
    if (!criteria.modified_since) {
      return fail(errc::invalid_argument, "modifiedSince: expected a date or time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
    }
  }
  return criteria;
}

value::object entry_properties() {
  return {{"uri", property("string", "The URI to pass to read_resource")},
          {"name", property("string", "Short name, e.g. deploy.md")},
          {"title", property("string", "Title to show to people")},
          {"description", property("string", "What the resource contains")},
          {"mimeType", property("string", "Media type, e.g. text/markdown; inode/directory means a folder")},
          {"size", property("integer", "Bytes")},
          {"priority", property("number", "Importance: 1 is essential, 0 is optional")},
          {"lastModified", property("string", "Time of the last change, e.g. 2025-01-12T15:00:58Z")},
          {"version", property("string", "Changes whenever the content changes")}};
}

value::object members_of(const resource& entry) {
  value::object members{{"uri", entry.uri}, {"name", entry.name}};
  const auto add = [&members](const char* name, const std::string& text) {
    if (!text.empty()) members.emplace_back(name, text);
  };
  add("title", entry.title);
  add("description", entry.description);
  add("mimeType", entry.mime_type);
  if (entry.size) members.emplace_back("size", *entry.size);
  if (entry.annotations.priority) members.emplace_back("priority", *entry.annotations.priority);
  if (entry.annotations.last_modified)
    members.emplace_back("lastModified", model::format_iso_8601(*entry.annotations.last_modified));
  add("version", entry.version);
  return members;
}

tool_annotations read_only_annotations(const char* title) {
  tool_annotations hints;
  hints.title = title;
  hints.read_only_hint = true;
  hints.idempotent_hint = true;
  hints.open_world_hint = false;
  return hints;
}

std::vector<built_in_tool> tools(std::shared_ptr<const services_holder> holder, std::shared_ptr<const search_engine> engine) {
  std::vector<built_in_tool> created;
  created.push_back(list_tool(holder));
  created.push_back(read_tool(holder));
  created.push_back(search_tool(std::move(holder), std::move(engine)));
  return created;
}

namespace {

constexpr std::size_t default_list_entries = 50;
constexpr std::size_t max_list_entries = 500;
constexpr std::size_t max_listed_templates = 50;
constexpr std::chrono::milliseconds max_list_time{2'000};

value list_input_schema() {
  auto properties = filter_properties();
  properties.emplace_back(
      "limit", property("integer", "Maximum number of resources; default 50", {{"minimum", 1}, {"maximum", max_list_entries}}));
  properties.emplace_back(
      "cursor", property("string", "nextCursor of the previous result, to get the next page; repeat the other arguments"));
  return value::object{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

value list_output_schema() {
  const value entry =
      value::object{{"type", "object"}, {"properties", entry_properties()}, {"required", value::array{"uri", "name"}}};
  const value pattern = value::object{
      {"type", "object"},
      {"properties", value::object{{"uriTemplate", property("string", "RFC 6570 template: fill in the variables to get a URI")},
                                   {"name", property("string", "Name of the template")},
                                   {"description", property("string", "What its URIs lead to")}}},
      {"required", value::array{"uriTemplate", "name"}}};
  return value::object{
      {"type", "object"},
      {"properties",
       value::object{{"resources", value::object{{"type", "array"}, {"items", entry}}},
                     {"templates", value::object{{"type", "array"},
                                                 {"items", pattern},
                                                 {"description", "Templates of more URIs; only on the first page"}}},
                     {"nextCursor", property("string", "Present if there may be more: call again with this as cursor")}}},
      {"required", value::array{"resources"}}};
}

/// Up to `limit` entries, from several pages if necessary.
result<model::resource_page> collect_page(const tool_call& call, const tool_services& services,
                                          const std::shared_ptr<const catalog::list_filter>& filter, std::size_t limit) {
  model::resource_page page;
  if (const auto* cursor = call.arguments.find("cursor")) page.next_cursor = *cursor->as_string();
  const auto deadline = executor::clock::now() + max_list_time;
  do {
    auto next = await<model::resource_page>(call, [&](catalog::completion<model::resource_page> callback) {
      services.catalog->list(call, page.next_cursor, filter, limit - page.resources.size(), std::move(callback));
    });
    if (!next) return tl::unexpected(std::move(next.error()));
    for (auto& entry : next->resources) page.resources.push_back(std::move(entry));
    page.next_cursor = std::move(next->next_cursor);
  } while (page.next_cursor && page.resources.size() < limit && executor::clock::now() < deadline);
  return page;
}

value list_templates(const tool_call& call, const tool_services& services) {
  if (!services.gate->admit(call.caller, model::list_templates{})) return value::array{};
  const auto page = await<model::template_page>(call, [&](catalog::completion<model::template_page> callback) {
    services.catalog->templates(call, std::nullopt, std::move(callback));
  });
  value::array templates;
  if (!page) return templates;  // an error of templates does not fail the list
  for (const auto& entry : page->templates) {
    if (templates.size() == max_listed_templates) break;
    value::object members{{"uriTemplate", entry.uri_template}, {"name", entry.name}};
    if (!entry.description.empty()) members.emplace_back("description", entry.description);
    templates.emplace_back(std::move(members));
  }
  return templates;
}

result<tool_outcome> list(const tool_call& call, const tool_services& services) {
  auto criteria = parse_filter(call.arguments);
  if (!criteria) return tl::unexpected(std::move(criteria.error()));
  const auto* limit = call.arguments.find("limit");
  if (auto admitted = services.gate->admit(call.caller, model::list_resources{}); !admitted) {
    return tl::unexpected(std::move(admitted.error()));
  }
  const auto filter = std::make_shared<const catalog::list_filter>(std::move(*criteria));
  auto page = collect_page(call, services, filter,
                           limit == nullptr ? default_list_entries : static_cast<std::size_t>(*limit->as_integer()));
  if (!page) return tl::unexpected(std::move(page.error()));

  tool_result answer;
  value::array entries;
  for (const auto& entry : page->resources) entries.emplace_back(members_of(entry));
  value::object members{{"resources", std::move(entries)}};
  if (call.arguments.find("cursor") == nullptr) {
    auto templates = list_templates(call, services);
    if (!templates.as_array()->empty()) members.emplace_back("templates", std::move(templates));
  }
  if (page->next_cursor) members.emplace_back("nextCursor", *page->next_cursor);
  answer.structured_content = value(std::move(members));
  answer.content.emplace_back(text_block{answer.structured_content->to_text(), {}});
  if (page->next_cursor) {
    answer.content.emplace_back(
        text_block{"There may be more: call list_resources again with the same arguments and nextCursor as cursor.", {}});
  }
  for (auto& listed : page->resources) answer.content.emplace_back(link_block{std::move(listed)});
  return answer;
}

}  // namespace

built_in_tool list_tool(std::shared_ptr<const services_holder> holder) {
  built_in_tool tool;
  tool.entry.name = tool_names[0];
  tool.entry.title = "List resources";
  tool.entry.description =
      "Lists the resources of this server (files, folders, documents and so on) with their URIs, page by page. Arguments "
      "filter the list. To read a resource, use read_resource; to find resources by words, use search_resources.";
  tool.entry.input_schema = list_input_schema();
  tool.entry.output_schema = list_output_schema();
  tool.entry.annotations = read_only_annotations("List resources");
  tool.handler = [services = std::move(holder)](const tool_call& call) { return list(call, services->current()); };
  return tool;
}

namespace {

constexpr std::size_t default_results = 10;
constexpr std::size_t max_results = 50;

value search_input_schema() {
  value::object properties{
      {"q", property("string", "Words to search for, e.g. deploy rollback", {{"minLength", 1}, {"maxLength", 1024}})},
      {"limit", property("integer", "Maximum number of results; default 10", {{"minimum", 1}, {"maximum", max_results}})}};
  for (auto& member : filter_properties()) properties.push_back(std::move(member));
  return value::object{{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", value::array{"q"}},
                       {"additionalProperties", false}};
}

value search_output_schema() {
  const value hit = value::object{
      {"type", "object"},
      {"properties",
       value::object{
           {"uri", property("string", "The URI to pass to read_resource")},
           {"name", property("string", "Short name, e.g. deploy.md")},
           {"title", property("string", "Title to show to people")},
           {"mimeType", property("string", "Media type")},
           {"range", property("string", "The matching part, to pass to read_resource as range, e.g. lines=10-14")},
           {"passage", property("string", "Text of that part; without a range, the description or title of the resource")},
           {"score",
            property("number", "Relevance, 0 to 1; compare scores only within one result", {{"minimum", 0}, {"maximum", 1}})},
           {"explanation", property("string", "Where the words were found")}}},
      {"required", value::array{"uri", "name", "passage", "score", "explanation"}}};
  return value::object{
      {"type", "object"},
      {"properties",
       value::object{
           {"results", value::object{{"type", "array"}, {"items", hit}, {"description", "Best match first"}}},
           {"isComplete", property("boolean", "False if not everything could be searched: narrow the search with filters")}}},
      {"required", value::array{"results", "isComplete"}}};
}

value members_of(const search_hit& hit) {
  value::object members{{"uri", hit.entry.uri}, {"name", hit.entry.name}};
  if (!hit.entry.title.empty()) members.emplace_back("title", hit.entry.title);
  if (!hit.entry.mime_type.empty()) members.emplace_back("mimeType", hit.entry.mime_type);
  if (!hit.range.empty()) members.emplace_back("range", hit.range);
  members.emplace_back("passage", hit.passage);
  members.emplace_back("score", hit.score);
  members.emplace_back("explanation", hit.reason);
  return members;
}

result<tool_outcome> search(const tool_call& call, const tool_services& services, const search_engine& fallback) {
  HONDANA_TRY(auto criteria, parse_filter(call.arguments));
  if (auto admitted = services.gate->admit(call.caller, model::list_resources{}); !admitted) {
    return tl::unexpected(std::move(admitted.error()));
  }
  const auto* limit = call.arguments.find("limit");
  const auto& engine = services.engine ? *services.engine : fallback;
  auto matches =
      engine.search(call, services,
                    {*call.arguments.find("q")->as_string(),
                     limit == nullptr ? default_results : static_cast<std::size_t>(*limit->as_integer()), std::move(criteria)});
  if (!matches) return tl::unexpected(std::move(matches.error()));
  tool_result answer;
  value::array results;
  for (const auto& hit : matches->hits) results.emplace_back(members_of(hit));
  answer.structured_content = value::object{{"results", std::move(results)}, {"isComplete", matches->is_complete}};
  answer.content.emplace_back(text_block{answer.structured_content->to_text(), {}});
  if (!matches->is_complete) {
    answer.content.emplace_back(text_block{
        "Not everything could be searched. Narrow the search with uriPrefix, mimeType, minPriority or modifiedSince.", {}});
  }
  for (auto& hit : matches->hits) answer.content.emplace_back(link_block{std::move(hit.entry)});
  return answer;
}

}  // namespace

built_in_tool search_tool(std::shared_ptr<const services_holder> holder, std::shared_ptr<const search_engine> engine) {
  built_in_tool tool;
  tool.entry.name = tool_names[2];
  tool.entry.title = "Search resources";
  tool.entry.description =
      "Finds resources by words in their names, titles, descriptions, URIs and contents, in Japanese too. Returns the best "
      "matches first, each with the matching lines. To read more of one, use read_resource.";
  tool.entry.input_schema = search_input_schema();
  tool.entry.output_schema = search_output_schema();
  tool.entry.annotations = read_only_annotations("Search resources");
  tool.handler = [services = std::move(holder), engine = std::move(engine)](const tool_call& call) {
    return search(call, services->current(), *engine);
  };
  return tool;
}

}  // namespace hondana::tools
