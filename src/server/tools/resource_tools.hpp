/// The tools list_resources and search_resources, and what they have in common with read_resource.
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

struct offered {
  tool entry;
  tool_handler handler;
};

/// `list_resources`, `read_resource` and `search_resources`. Their handlers ask the catalog as the caller of the tool, past the
/// gate for each resource, and block meanwhile. Their failures say what was tried, why not and what to do.
/// Spec: server/tools, all revisions.
/// `without_index`: what searches where the place has no engine.
[[nodiscard]] std::vector<offered> tools(std::shared_ptr<const place> where,
                                         std::shared_ptr<const search_engine> without_index);

// One each.
[[nodiscard]] offered list_tool(std::shared_ptr<const place> where);
[[nodiscard]] offered read_tool(std::shared_ptr<const place> where);
[[nodiscard]] offered search_tool(std::shared_ptr<const place> where, std::shared_ptr<const search_engine> engine);

/// What is true of all three: they read, change nothing, and stay within what is served.
[[nodiscard]] tool_annotations reading_only(const char* title);

/// The properties `uriPrefix`, `mimeType`, `minPriority` and `modifiedSince` of an input schema.
[[nodiscard]] value::object filter_properties();
/// Those arguments. Errors: invalid_argument, naming the argument and what was expected.
[[nodiscard]] result<model::resource_filter> filter_of(const value& arguments);

/// The members of an entry that its schema below names; what an entry does not have is left out.
[[nodiscard]] value::object members_of(const resource& entry);
[[nodiscard]] value::object entry_properties();

/// `{"type":TYPE,"description":DESCRIPTION}` and further members.
[[nodiscard]] value property(const char* type, const char* description, value::object more = {});

}  // namespace hondana::tools
