/// Filters from arguments, entries to members.
#include "server/tools/arguments.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii/characters.hpp"
#include "protocol/model/times.hpp"

namespace hondana::tools {
namespace {

/// `text/plain` as it is, `text/` for `text/*`; empty for what is neither.
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

}  // namespace hondana::tools
