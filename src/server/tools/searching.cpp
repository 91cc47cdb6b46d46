/// The tool `search_resources`.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "server/tools/arguments.hpp"
#include "server/tools/tools.hpp"

namespace hondana::tools {
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
