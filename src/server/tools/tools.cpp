/// The three together.
#include "server/tools/tools.hpp"

#include <utility>

namespace hondana::tools {

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

}  // namespace hondana::tools
