/// Walks the chain of ignore files from the deepest folder up.
#include "base/ignore/stack.hpp"

#include <optional>
#include <utility>

namespace hondana::ignore {
namespace {

/// `path` as seen from `folder`, or nothing when it is not below it.
std::optional<std::string_view> seen_from(std::string_view folder, std::string_view path) {
  if (folder.empty()) return path;
  if (path.size() <= folder.size() || path[folder.size()] != '/' || !path.starts_with(folder)) return std::nullopt;
  return path.substr(folder.size() + 1);
}

}  // namespace

stack::stack(folder_rules rules, list_pointer info_exclude, const std::vector<outer_rules>& outer) {
  for (const outer_rules& one : outer) push({}, one.inner, {one.list, nullptr, nullptr});
  push({}, {}, {std::move(rules.hondana), std::move(rules.git), std::move(info_exclude)});
}

void stack::push(std::string folder, std::string inner, std::array<list_pointer, 3> lists) {
  std::size_t held = bytes();
  bool has_any = false;
  for (const list_pointer& list : lists) {
    if (!list) continue;
    has_any = true;
    held += list->bytes();
  }
  if (!has_any) return;
  deepest_ = std::make_shared<const level>(level{deepest_, std::move(folder), std::move(inner), std::move(lists), held});
}

stack stack::child(std::string_view folder_name, folder_rules rules) const {
  stack below;
  below.folder_.reserve(folder_.size() + 1 + folder_name.size());
  below.folder_ = folder_;
  if (!folder_.empty()) below.folder_ += '/';
  below.folder_ += folder_name;
  below.deepest_ = deepest_;
  below.push(below.folder_, {}, {std::move(rules.hondana), std::move(rules.git), nullptr});
  return below;
}

verdict stack::decide(std::string_view path, bool is_directory, std::uint64_t most) const {
  verdict said;
  said.decided_bytes = path.size();
  std::string joined;
  for (const level* at = deepest_.get(); at != nullptr; at = at->above.get()) {
    const auto seen = seen_from(at->folder, path);
    if (!seen || seen->empty()) continue;
    for (const list_pointer& list : at->lists) {
      if (!list || list->complete()) continue;
      said.outcome = decision::ignored;
      said.source = list->source();
      said.fault = list->fault();
      return said;
    }
    std::string_view asked = *seen;
    if (!at->inner.empty()) asked = ((joined = at->inner) += '/').append(path);
    for (const list_pointer& list : at->lists) {
      if (!list) continue;
      const found answer = list->match(asked, is_directory, most - said.steps);
      said.steps += answer.steps;
      if (answer.outcome == decision::none) continue;
      said.outcome = answer.outcome;
      said.source = list->source();
      said.line = answer.line;
      said.pattern = answer.pattern;
      if (answer.gave_up) said.fault = "its patterns take too long to match here";
      return said;
    }
  }
  said.decided_bytes = 0;
  return said;
}

verdict stack::decide_full(std::string_view path, bool is_directory) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const verdict ancestor = decide(path.substr(0, slash), true);
    if (ancestor.ignored()) return ancestor;
  }
  return decide(path, is_directory);
}

}  // namespace hondana::ignore
