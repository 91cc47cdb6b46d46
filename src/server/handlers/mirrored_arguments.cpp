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

constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || ascii::is_letter(c) || token_marks.find(c) != std::string_view::npos;
  });
}

std::string join_path(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& step : path) out += (out.empty() ? "" : ".") + step;
  return out;
}

class header_finder {
 public:
  result<void> scan_schema(const value& schema, std::vector<std::string>& path) {
    const auto* members = schema.as_object();
    if (members == nullptr) return {};
    for (const auto& [name, subschema] : *members) {
      if (name == keyword) {
        HONDANA_TRY(add_header(schema, subschema, path));
      } else if (name == "properties" && subschema.as_object() != nullptr) {
        for (const auto& [property, inner] : *subschema.as_object()) {
          path.push_back(property);
          HONDANA_TRY(scan_schema(inner, path));
          path.pop_back();
        }
      } else if (!is_instance_keyword(name) && contains_keyword(subschema)) {
        return reject(join_path(path), "it is below \"" + name + "\"; only a chain of \"properties\" may lead to it");
      }
    }
    return {};
  }

  std::vector<model::mirrored_argument> arguments;

 private:
  /// Keywords whose values are instances, not schemas.
  static bool is_instance_keyword(std::string_view name) {
    return name == "const" || name == "enum" || name == "default" || name == "examples";
  }

  static bool contains_keyword(const value& subschema) {
    if (const auto* elements = subschema.as_array()) return std::any_of(elements->begin(), elements->end(), contains_keyword);
    const auto* members = subschema.as_object();
    if (members == nullptr) return false;
    return std::any_of(members->begin(), members->end(), [](const value::member& member) {
      return member.first == keyword || (!is_instance_keyword(member.first) && contains_keyword(member.second));
    });
  }

  static tl::unexpected<failure> reject(const std::string& location, const std::string& reason) {
    return fail(errc::invalid_argument, "inputSchema: x-mcp-header of \"" + location + "\": " + reason);
  }

  result<void> add_header(const value& schema, const value& declared, const std::vector<std::string>& path) {
    const auto location = join_path(path);
    if (path.empty()) return reject(location, "it is at the root; put it on one property");
    const auto* header = declared.as_string();
    if (header == nullptr || !is_token(*header))
      return reject(location, "expected an HTTP field name without the prefix Mcp-Param-");
    const auto type = schema.string_at("type");
    if (!type || (*type != "string" && *type != "integer" && *type != "boolean")) {
      return reject(location, "its \"type\" must be string, integer or boolean");
    }
    const auto is_same = [&](const model::mirrored_argument& argument) {
      return ascii::equals_ignore_case(argument.header, *header);
    };
    if (std::any_of(arguments.begin(), arguments.end(), is_same))
      return reject(location, "another property has the header " + *header);
    arguments.push_back({path, *header, *type == "integer"});
    return {};
  }
};

}  // namespace

result<std::vector<model::mirrored_argument>> mirrored_arguments(const value& input_schema) {
  header_finder finder;
  std::vector<std::string> path;
  HONDANA_TRY(finder.scan_schema(input_schema, path));
  return std::move(finder.arguments);
}

}  // namespace hondana::handlers
