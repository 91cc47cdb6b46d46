/// Makes a files provider from its `[[source]]` table.
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/files/files.hpp"

namespace hondana::files {
namespace {

result<role> role_of(const config::section& rule, std::string_view text) {
  if (text == "user") return role::user;
  if (text == "assistant") return role::assistant;
  return tl::unexpected(rule.wrong("audience", "expected \"user\" or \"assistant\""));
}

result<priority_rule> read_rule(config::section& from) {
  priority_rule rule;
  auto pattern = from.string("pattern");
  if (!pattern) return tl::unexpected(std::move(pattern.error()));
  if (!*pattern) return tl::unexpected(from.wrong("pattern", "missing; use the syntax of .gitignore"));
  rule.pattern = std::move(**pattern);
  HONDANA_TRY(auto priority, from.number("priority", 0.0, 1.0));
  rule.priority = priority;
  auto audience = from.strings("audience");
  if (!audience) return tl::unexpected(std::move(audience.error()));
  for (const auto& one : *audience) {
    HONDANA_TRY(auto who, role_of(from, one));
    rule.audience.push_back(who);
  }
  HONDANA_TRY(from.finish());
  return rule;
}

/// Reads what applies to every root of the table.
result<root_options> read_root(config::section& from) {
  root_options root;
  root.kept_back = from.kept_back();
  HONDANA_TRY(const auto hidden, from.boolean("hidden"));
  root.show_hidden = hidden.value_or(root.show_hidden);
  HONDANA_TRY(const auto obey, from.boolean("ignore_files"));
  root.obey_ignore_files = obey.value_or(root.obey_ignore_files);
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  root.redact = redact.value_or(root.redact);
  HONDANA_TRY(auto allow, from.strings("allow"));
  root.allow = std::move(allow);
  HONDANA_TRY(auto exclude, from.strings("exclude"));
  root.exclude = std::move(exclude);
  auto rules = from.sections("rule");
  if (!rules) return tl::unexpected(std::move(rules.error()));
  for (auto& one : *rules) {
    HONDANA_TRY(auto rule, read_rule(one));
    root.priorities.push_back(std::move(rule));
  }
  return root;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  options made;
  made.log = log;
  HONDANA_TRY(auto common, read_root(from));
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = from.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(from.wrong("path", "missing; name the folder to serve"));
  for (const auto& one : *paths) {
    auto root = common;
    root.path = from.path_from(one);
    made.roots.push_back(std::move(root));
  }
  HONDANA_TRY(const auto budget, from.bytes("folder_budget"));
  made.folder_budget = budget.value_or(made.folder_budget);
  HONDANA_TRY(const auto watches, from.boolean("watch"));
  made.watches = watches.value_or(made.watches);
  HONDANA_TRY(from.finish());
  HONDANA_TRY(auto opened, files_provider::open(std::move(made)));
  return std::shared_ptr<provider>(std::move(opened));
}

}  // namespace hondana::files
