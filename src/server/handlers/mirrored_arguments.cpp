/// Arguments of tools that clients repeat in HTTP headers, from the input schema.
#include "server/handlers/mirrored_arguments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::handlers {
namespace {

constexpr std::string_view keyword = "x-mcp-header";

constexpr std::string_view marks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || ascii::is_letter(c) || marks.find(c) != std::string_view::npos;
  });
}

std::string shown(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& step : path) out += (out.empty() ? "" : ".") + step;
  return out;
}

class finder {
 public:
  result<void> properties_of(const value& schema, std::vector<std::string>& path) {
    const auto* members = schema.as_object();
    if (members == nullptr) return {};
    for (const auto& [name, part] : *members) {
      if (name == keyword) {
        HONDANA_TRY(take(schema, part, path));
      } else if (name == "properties" && part.as_object() != nullptr) {
        for (const auto& [property, inner] : *part.as_object()) {
          path.push_back(property);
          HONDANA_TRY(properties_of(inner, path));
          path.pop_back();
        }
      } else if (!is_data(name) && mentions(part)) {
        return refuse(shown(path), "it is below \"" + name + "\"; only a chain of \"properties\" may lead to it");
      }
    }
    return {};
  }

  std::vector<model::mirrored_argument> found;

 private:
  /// Keywords whose values are instances, not schemas.
  static bool is_data(std::string_view name) {
    return name == "const" || name == "enum" || name == "default" || name == "examples";
  }

  static bool mentions(const value& part) {
    if (const auto* elements = part.as_array()) return std::any_of(elements->begin(), elements->end(), mentions);
    const auto* members = part.as_object();
    if (members == nullptr) return false;
    return std::any_of(members->begin(), members->end(), [](const value::member& one) {
      return one.first == keyword || (!is_data(one.first) && mentions(one.second));
    });
  }

  static tl::unexpected<failure> refuse(const std::string& place, const std::string& why) {
    return fail(errc::invalid_argument, "inputSchema: x-mcp-header of \"" + place + "\": " + why);
  }

  result<void> take(const value& schema, const value& declared, const std::vector<std::string>& path) {
    const auto place = shown(path);
    if (path.empty()) return refuse(place, "it is at the root; put it on one property");
    const auto* header = declared.as_string();
    if (header == nullptr || !is_token(*header))
      return refuse(place, "expected an HTTP field name without the prefix Mcp-Param-");
    const auto type = schema.string_at("type");
    if (!type || (*type != "string" && *type != "integer" && *type != "boolean")) {
      return refuse(place, "its \"type\" must be string, integer or boolean");
    }
    const auto is_same = [&](const model::mirrored_argument& one) { return ascii::is_same(one.header, *header); };
    if (std::any_of(found.begin(), found.end(), is_same)) return refuse(place, "another property has the header " + *header);
    found.push_back({path, *header, *type == "integer"});
    return {};
  }
};

}  // namespace

result<std::vector<model::mirrored_argument>> mirrored_arguments(const value& input_schema) {
  finder all;
  std::vector<std::string> path;
  HONDANA_TRY(all.properties_of(input_schema, path));
  return std::move(all.found);
}

}  // namespace hondana::handlers
