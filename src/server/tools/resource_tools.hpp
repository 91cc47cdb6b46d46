/// The tools list_resources, read_resource and search_resources, and the parts that they share.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

#include "protocol/model/operations.hpp"
#include "server/tools/search_engine.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::tools {

/// The names of the tools.
inline constexpr std::array<std::string_view, 3> tool_names{"list_resources", "read_resource", "search_resources"};

/// A built-in tool and its handler.
struct built_in_tool {
  tool entry;
  tool_handler handler;
};

/// Makes all three tools. Their handlers use the catalog with the rights of the tool's caller, check the scopes for each
/// resource, and block. Their failures say what was attempted, why it failed, and what to do. `holder`: the services at the
/// time of a call. `engine`: searches if the services have no engine. Spec: server/tools, all revisions.
[[nodiscard]] std::vector<built_in_tool> tools(std::shared_ptr<const services_holder> holder,
                                               std::shared_ptr<const search_engine> engine);

/// Makes `list_resources`.
[[nodiscard]] built_in_tool list_tool(std::shared_ptr<const services_holder> holder);
/// Makes `read_resource`.
[[nodiscard]] built_in_tool read_tool(std::shared_ptr<const services_holder> holder);
/// Makes `search_resources`.
[[nodiscard]] built_in_tool search_tool(std::shared_ptr<const services_holder> holder,
                                        std::shared_ptr<const search_engine> engine);

/// The annotations of all three tools: they change nothing, and stay within the served resources. `title`: of the tool.
[[nodiscard]] tool_annotations read_only_annotations(const char* title);

/// The properties `uriPrefix`, `mimeType`, `minPriority` and `modifiedSince` of an input schema.
[[nodiscard]] value::object filter_properties();
/// Reads the arguments of `filter_properties`. Precondition: they match that schema. Errors: invalid_argument with the argument
/// and the expected form.
[[nodiscard]] result<model::resource_filter> parse_filter(const value& arguments);

/// The JSON members of an entry; empty ones are left out.
[[nodiscard]] value::object members_of(const resource& entry);
/// The properties of an output schema for `members_of`.
[[nodiscard]] value::object entry_properties();

/// A JSON schema: `{"type":TYPE,"description":DESCRIPTION}`, followed by the members of `extra`.
[[nodiscard]] value property(const char* type, const char* description, value::object extra = {});

}  // namespace hondana::tools
