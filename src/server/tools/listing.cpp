/// The tool `list_resources`.
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/catalog/filter.hpp"
#include "server/tools/arguments.hpp"
#include "server/tools/tools.hpp"

namespace hondana::tools {
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

/// As many entries as the caller wants, of several pages where one has fewer.
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
  if (!page) return all;  // which depends on nothing but the configuration
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

}  // namespace hondana::tools
