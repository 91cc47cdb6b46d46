/// Walks the chain of ignore files from the deepest folder up.
#include "ignore/stack.hpp"

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

stack::stack(folder_rules rules, list_pointer info_exclude) {
  if (!rules.git && !rules.hondana && !info_exclude) return;
  deepest_ = std::make_shared<const level>(
      level{nullptr, {}, {std::move(rules.hondana), std::move(rules.git), std::move(info_exclude)}});
}

stack stack::child(std::string_view folder_name, folder_rules rules) const {
  stack below;
  below.folder_.reserve(folder_.size() + 1 + folder_name.size());
  below.folder_ = folder_;
  if (!folder_.empty()) below.folder_ += '/';
  below.folder_ += folder_name;
  below.deepest_ = deepest_;
  if (rules.git || rules.hondana) {
    below.deepest_ = std::make_shared<const level>(
        level{deepest_, below.folder_, {std::move(rules.hondana), std::move(rules.git), nullptr}});
  }
  return below;
}

verdict stack::decide(std::string_view path, bool is_directory) const noexcept {
  for (const level* at = deepest_.get(); at != nullptr; at = at->above.get()) {
    const auto seen = seen_from(at->folder, path);
    if (!seen) continue;
    for (const list_pointer& list : at->lists) {
      if (!list) continue;
      const found answer = list->match(*seen, is_directory);
      if (answer.outcome != decision::none) {
        return {answer.outcome, list->source(), answer.line, answer.pattern, path.size()};
      }
    }
  }
  return {};
}

verdict stack::decide_full(std::string_view path, bool is_directory) const noexcept {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const verdict ancestor = decide(path.substr(0, slash), true);
    if (ancestor.ignored()) return ancestor;
  }
  return decide(path, is_directory);
}

}  // namespace hondana::ignore
