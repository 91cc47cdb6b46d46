/// Three tools by which a model that can only call tools reaches all resources.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include <hondana/tool.hpp>

#include "server/tools/engine.hpp"
#include "server/tools/place.hpp"

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

}  // namespace hondana::tools
