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
std::string type_of(std::string_view asked) {
  auto type = ascii::in_lower_case(asked);
  if (type.ends_with('/')) return {};
  if (type.ends_with("/*")) type.pop_back();
  const bool is_plain =
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~' && c != ';' && c != '*'; });
  return is_plain && type.front() != '/' && std::count(type.begin(), type.end(), '/') == 1 ? type : std::string();
}

}  // namespace

value property(const char* type, const char* description, value::object more) {
  value::object made{{"type", type}, {"description", description}};
  for (auto& one : more) made.push_back(std::move(one));
  return made;
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

result<model::resource_filter> filter_of(const value& arguments) {
  model::resource_filter filter;
  if (const auto* prefix = arguments.find("uriPrefix")) {
    filter.uri_prefix = *prefix->as_string();
    const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
    if (!std::all_of(filter.uri_prefix.begin(), filter.uri_prefix.end(), is_visible)) {
      return fail(errc::invalid_argument,
                  "uriPrefix: expected the start of a URI as list_resources returns it: visible ASCII, other characters "
                  "percent-encoded.");
    }
  }
  if (const auto* type = arguments.find("mimeType")) {
    filter.mime_type = type_of(*type->as_string());
    if (filter.mime_type.empty()) {
      return fail(errc::invalid_argument,
                  "mimeType: expected type/subtype without parameters, such as text/markdown or text/*.");
    }
  }
  if (const auto* least = arguments.find("minPriority")) filter.min_priority = least->as_number();
  if (const auto* since = arguments.find("modifiedSince")) {
    filter.modified_since = model::parse_time(*since->as_string());
    if (!filter.modified_since) {
      return fail(errc::invalid_argument, "modifiedSince: expected a date or time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
    }
  }
  return filter;
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
  add("mimeType", entry.mimeType);
  if (entry.size) members.emplace_back("size", *entry.size);
  if (entry.annotations.priority) members.emplace_back("priority", *entry.annotations.priority);
  if (entry.annotations.lastModified) members.emplace_back("lastModified", model::iso_8601(*entry.annotations.lastModified));
  add("version", entry.version);
  return members;
}

tool_annotations reading_only(const char* title) {
  tool_annotations hints;
  hints.title = title;
  hints.readOnlyHint = true;
  hints.idempotentHint = true;
  hints.openWorldHint = false;
  return hints;
}

std::vector<offered> tools(std::shared_ptr<const place> where, std::shared_ptr<const search_engine> engine) {
  std::vector<offered> all;
  all.push_back(list_tool(where));
  all.push_back(read_tool(where));
  all.push_back(search_tool(std::move(where), std::move(engine)));
  return all;
}

namespace {

constexpr std::size_t usual_entries = 50;
constexpr std::size_t most_entries_listed = 500;
constexpr std::size_t templates_shown = 50;
constexpr std::chrono::milliseconds longest_listing{2'000};

value list_input_schema() {
  auto properties = filter_properties();
  properties.emplace_back("limit", property("integer", "Maximum number of resources; default 50",
                                            {{"minimum", 1}, {"maximum", most_entries_listed}}));
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
result<model::resource_page> gather(const tool_call& call, const surroundings& in,
                                    const std::shared_ptr<const catalog::filter>& which, std::size_t limit) {
  model::resource_page page;
  if (const auto* cursor = call.arguments.find("cursor")) page.next_cursor = *cursor->as_string();
  const auto until = executor::clock::now() + longest_listing;
  do {
    auto next = await<model::resource_page>(call, [&](catalog::completion<model::resource_page> done) {
      in.catalog->list(call, page.next_cursor, which, limit - page.resources.size(), std::move(done));
    });
    if (!next) return tl::unexpected(std::move(next.error()));
    for (auto& one : next->resources) page.resources.push_back(std::move(one));
    page.next_cursor = std::move(next->next_cursor);
  } while (page.next_cursor && page.resources.size() < limit && executor::clock::now() < until);
  return page;
}

value templates_of(const tool_call& call, const surroundings& in) {
  if (!in.gate->admit(call.who, model::list_templates{})) return value::array{};
  const auto page = await<model::template_page>(call, [&](catalog::completion<model::template_page> done) {
    in.catalog->templates(call, std::nullopt, std::move(done));
  });
  value::array all;
  if (!page) return all;  // an error of templates does not fail the list
  for (const auto& one : page->templates) {
    if (all.size() == templates_shown) break;
    value::object members{{"uriTemplate", one.uriTemplate}, {"name", one.name}};
    if (!one.description.empty()) members.emplace_back("description", one.description);
    all.emplace_back(std::move(members));
  }
  return all;
}

result<tool_outcome> list(const tool_call& call, const surroundings& in) {
  auto filter = filter_of(call.arguments);
  if (!filter) return tl::unexpected(std::move(filter.error()));
  const auto* limit = call.arguments.find("limit");
  if (auto admitted = in.gate->admit(call.who, model::list_resources{}); !admitted) {
    return tl::unexpected(std::move(admitted.error()));
  }
  const auto which = std::make_shared<const catalog::filter>(std::move(*filter));
  auto page = gather(call, in, which, limit == nullptr ? usual_entries : static_cast<std::size_t>(*limit->as_integer()));
  if (!page) return tl::unexpected(std::move(page.error()));

  tool_result answer;
  value::array entries;
  for (const auto& one : page->resources) entries.emplace_back(members_of(one));
  value::object members{{"resources", std::move(entries)}};
  if (call.arguments.find("cursor") == nullptr) {
    auto templates = templates_of(call, in);
    if (!templates.as_array()->empty()) members.emplace_back("templates", std::move(templates));
  }
  if (page->next_cursor) members.emplace_back("nextCursor", *page->next_cursor);
  answer.structuredContent = value(std::move(members));
  answer.content.emplace_back(text_block{answer.structuredContent->to_text(), {}});
  if (page->next_cursor) {
    answer.content.emplace_back(
        text_block{"There may be more: call list_resources again with the same arguments and nextCursor as cursor.", {}});
  }
  for (auto& one : page->resources) answer.content.emplace_back(link_block{std::move(one)});
  return answer;
}

}  // namespace

offered list_tool(std::shared_ptr<const place> where) {
  offered made;
  made.entry.name = tool_names[0];
  made.entry.title = "List resources";
  made.entry.description =
      "Lists the resources of this server (files, folders, documents and so on) with their URIs, page by page. Arguments "
      "filter the list. To read a resource, use read_resource; to find resources by words, use search_resources.";
  made.entry.inputSchema = list_input_schema();
  made.entry.outputSchema = list_output_schema();
  made.entry.annotations = reading_only("List resources");
  made.handler = [where = std::move(where)](const tool_call& call) { return list(call, where->now()); };
  return made;
}

namespace {

constexpr std::size_t usual_results = 10;
constexpr std::size_t most_results = 50;

value search_input_schema() {
  value::object properties{
      {"q", property("string", "Words to search for, e.g. deploy rollback", {{"minLength", 1}, {"maxLength", 1024}})},
      {"limit", property("integer", "Maximum number of results; default 10", {{"minimum", 1}, {"maximum", most_results}})}};
  for (auto& one : filter_properties()) properties.push_back(std::move(one));
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
           {"why", property("string", "Where the words were found")}}},
      {"required", value::array{"uri", "name", "passage", "score", "why"}}};
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
  if (!hit.entry.mimeType.empty()) members.emplace_back("mimeType", hit.entry.mimeType);
  if (!hit.range.empty()) members.emplace_back("range", hit.range);
  members.emplace_back("passage", hit.passage);
  members.emplace_back("score", hit.score);
  members.emplace_back("why", hit.why);
  return members;
}

result<tool_outcome> search(const tool_call& call, const surroundings& in, const search_engine& without_index) {
  HONDANA_TRY(auto filter, filter_of(call.arguments));
  if (auto admitted = in.gate->admit(call.who, model::list_resources{}); !admitted) {
    return tl::unexpected(std::move(admitted.error()));
  }
  const auto* limit = call.arguments.find("limit");
  const auto& by = in.engine ? *in.engine : without_index;
  auto found =
      by.search(call, in,
                {*call.arguments.find("q")->as_string(),
                 limit == nullptr ? usual_results : static_cast<std::size_t>(*limit->as_integer()), std::move(filter)});
  if (!found) return tl::unexpected(std::move(found.error()));
  tool_result answer;
  value::array results;
  for (const auto& hit : found->hits) results.emplace_back(members_of(hit));
  answer.structuredContent = value::object{{"results", std::move(results)}, {"isComplete", found->is_complete}};
  answer.content.emplace_back(text_block{answer.structuredContent->to_text(), {}});
  if (!found->is_complete) {
    answer.content.emplace_back(text_block{
        "Not everything could be searched. Narrow the search with uriPrefix, mimeType, minPriority or modifiedSince.", {}});
  }
  for (auto& hit : found->hits) answer.content.emplace_back(link_block{std::move(hit.entry)});
  return answer;
}

}  // namespace

offered search_tool(std::shared_ptr<const place> where, std::shared_ptr<const search_engine> engine) {
  offered made;
  made.entry.name = tool_names[2];
  made.entry.title = "Search resources";
  made.entry.description =
      "Finds resources by words in their names, titles, descriptions, URIs and contents, in Japanese too. Returns the best "
      "matches first, each with the matching lines. To read more of one, use read_resource.";
  made.entry.inputSchema = search_input_schema();
  made.entry.outputSchema = search_output_schema();
  made.entry.annotations = reading_only("Search resources");
  made.handler = [where = std::move(where), engine = std::move(engine)](const tool_call& call) {
    return search(call, where->now(), *engine);
  };
  return made;
}

}  // namespace hondana::tools
