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
  if (!*pattern) return tl::unexpected(from.wrong("pattern", "missing; write it as in .gitignore"));
  rule.pattern = std::move(**pattern);
  auto priority = from.number("priority", 0.0, 1.0);
  if (!priority) return tl::unexpected(std::move(priority.error()));
  rule.priority = *priority;
  auto audience = from.strings("audience");
  if (!audience) return tl::unexpected(std::move(audience.error()));
  for (const auto& one : *audience) {
    auto who = role_of(from, one);
    if (!who) return tl::unexpected(std::move(who.error()));
    rule.audience.push_back(*who);
  }
  if (auto done = from.finish(); !done) return tl::unexpected(std::move(done.error()));
  return rule;
}

/// Reads what applies to every root of the table.
result<root_options> read_root(config::section& from) {
  root_options root;
  root.kept_back = from.kept_back();
  const auto hidden = from.boolean("hidden");
  if (!hidden) return tl::unexpected(hidden.error());
  root.show_hidden = hidden->value_or(root.show_hidden);
  const auto obey = from.boolean("ignore_files");
  if (!obey) return tl::unexpected(obey.error());
  root.obey_ignore_files = obey->value_or(root.obey_ignore_files);
  const auto redact = from.boolean("redact");
  if (!redact) return tl::unexpected(redact.error());
  root.redact = redact->value_or(root.redact);
  auto allow = from.strings("allow");
  if (!allow) return tl::unexpected(std::move(allow.error()));
  root.allow = std::move(*allow);
  auto exclude = from.strings("exclude");
  if (!exclude) return tl::unexpected(std::move(exclude.error()));
  root.exclude = std::move(*exclude);
  auto rules = from.sections("rule");
  if (!rules) return tl::unexpected(std::move(rules.error()));
  for (auto& one : *rules) {
    auto rule = read_rule(one);
    if (!rule) return tl::unexpected(std::move(rule.error()));
    root.priorities.push_back(std::move(*rule));
  }
  return root;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  options made;
  made.log = log;
  auto common = read_root(from);
  if (!common) return tl::unexpected(std::move(common.error()));
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = from.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(from.wrong("path", "missing; name the folder to serve"));
  for (const auto& one : *paths) {
    auto root = *common;
    root.path = from.path_from(one);
    made.roots.push_back(std::move(root));
  }
  const auto budget = from.bytes("folder_budget");
  if (!budget) return tl::unexpected(budget.error());
  made.folder_budget = budget->value_or(made.folder_budget);
  const auto watches = from.boolean("watch");
  if (!watches) return tl::unexpected(watches.error());
  made.watches = watches->value_or(made.watches);
  if (auto done = from.finish(); !done) return tl::unexpected(std::move(done.error()));
  auto opened = files_provider::open(std::move(made));
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::files
