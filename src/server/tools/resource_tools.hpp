/// The tools list_resources and search_resources, and the parts that they share with read_resource.
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

inline constexpr std::array<std::string_view, 3> tool_names{"list_resources", "read_resource", "search_resources"};

/// A built-in tool and its handler.
struct built_in_tool {
  tool entry;
  tool_handler handler;
};

/// Makes `list_resources`, `read_resource` and `search_resources`. Their handlers use the catalog with the rights of the tool's
/// caller, check the gate for each resource, and block meanwhile. Their failures say what was attempted, why it failed, and
/// what to do. `engine`: the engine for searches if `holder` has none. Spec: server/tools, all revisions.
[[nodiscard]] std::vector<built_in_tool> tools(std::shared_ptr<const services_holder> holder,
                                               std::shared_ptr<const search_engine> engine);

// The three tools separately.
[[nodiscard]] built_in_tool list_tool(std::shared_ptr<const services_holder> holder);
[[nodiscard]] built_in_tool read_tool(std::shared_ptr<const services_holder> holder);
[[nodiscard]] built_in_tool search_tool(std::shared_ptr<const services_holder> holder,
                                        std::shared_ptr<const search_engine> engine);

/// The annotations of all three tools: they read, change nothing, and stay within the served resources.
[[nodiscard]] tool_annotations read_only_annotations(const char* title);

/// The properties `uriPrefix`, `mimeType`, `minPriority` and `modifiedSince` of an input schema.
[[nodiscard]] value::object filter_properties();
/// Reads these arguments. Errors: invalid_argument with the argument and the expected form.
[[nodiscard]] result<model::resource_filter> parse_filter(const value& arguments);

/// The members of an entry that `entry_properties` describes; empty ones are left out.
[[nodiscard]] value::object members_of(const resource& entry);
[[nodiscard]] value::object entry_properties();

/// `{"type":TYPE,"description":DESCRIPTION}`, followed by `extra`.
[[nodiscard]] value property(const char* type, const char* description, value::object extra = {});

}  // namespace hondana::tools
