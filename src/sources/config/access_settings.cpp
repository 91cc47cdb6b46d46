/// Reading `[access]` and its rules.
#include "sources/config/access_settings.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access/rules.hpp"
#include "sources/config/collector.hpp"

namespace hondana::config {
namespace {

void take_names(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  into = std::move(*all);
}

/// An empty list means all to a program, and nobody to whoever writes one.
void take_some(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  take_names(from, key, into, errors);
  if (!from.has(key) || !into.empty()) return;
  errors.note(from.wrong(key, "an empty list matches nothing. Remove the key if the rule applies to all, or remove the rule"));
}

void take_audience(section& from, std::optional<role>& into, collector& errors) {
  auto written = from.string_or_strings("audience");
  if (!written) return errors.note(from.wrong("audience", "expected \"user\" or \"assistant\""));
  if (!from.has("audience")) return;
  if (*written == std::vector<std::string>{"user"}) {
    into = role::user;
  } else if (*written == std::vector<std::string>{"assistant"}) {
    into = role::assistant;
  } else {
    errors.note(from.wrong("audience", "expected \"user\" or \"assistant\"; for both, write two rules"));
  }
}

void take_grant(section& from, grant& into, collector& errors) {
  std::vector<std::string> allowed;
  take_names(from, "allow", allowed, errors);
  std::optional<bool> denies;
  errors.take(from.boolean("deny"), denies);
  const auto has = [&allowed](std::string_view one) { return std::find(allowed.begin(), allowed.end(), one) != allowed.end(); };
  const auto is_known = [](const std::string& one) { return one == "list" || one == "read"; };
  if (denies.value_or(false) != allowed.empty() || denies == false) {
    return errors.note(from.wrong("allow", "expected one of allow = [\"list\", \"read\"], allow = [\"list\"] and deny = true"));
  }
  if (!std::all_of(allowed.begin(), allowed.end(), is_known)) {
    return errors.note(from.wrong("allow", "expected only \"list\" and \"read\""));
  }
  if (has("read") && !has("list")) {
    return errors.note(from.wrong("allow", "\"read\" requires \"list\"; write allow = [\"list\", \"read\"]"));
  }
  into = has("read") ? grant::read : has("list") ? grant::list : grant::none;
}

/// What a rule says under each of its keys, looked at alone, so that an error names its line.
void check_rule(const section& from, const access_rule& rule, collector& errors) {
  const auto look = [&](std::string_view key, const access_rule& alone) {
    if (const auto sound = access::check_rule(alone); !sound) errors.note(from.wrong(key, sound.error().public_text));
  };
  look("identities", {.identities = rule.identities});
  look("groups", {.groups = rule.groups});
  look("scopes", {.scopes = rule.scopes});
  look("uris", {.uris = rule.uris});
  look("patterns", {.patterns = rule.patterns});
  look("kinds", {.kinds = rule.kinds});
  look("tools", {.tools = rule.tools});
  look("prompts", {.prompts = rule.prompts});
  look(rule.tools.empty() ? "prompts" : "tools", rule);
}

}  // namespace

result<access_rules> read_access(section from, std::vector<section>& tables) {
  access_rules made;
  collector errors;
  errors.take(from.string("group_claim"), made.group_claim);
  auto rules = from.sections("rule");
  if (!rules) {
    errors.note(std::move(rules.error()));
  } else {
    for (auto& one : *rules) {
      auto& rule = made.rules.emplace_back();
      take_some(one, "identities", rule.identities, errors);
      take_some(one, "groups", rule.groups, errors);
      take_some(one, "scopes", rule.scopes, errors);
      take_some(one, "uris", rule.uris, errors);
      take_some(one, "patterns", rule.patterns, errors);
      take_some(one, "kinds", rule.kinds, errors);
      take_audience(one, rule.audience, errors);
      take_some(one, "tools", rule.tools, errors);
      take_some(one, "prompts", rule.prompts, errors);
      take_grant(one, rule.gives, errors);
      check_rule(one, rule, errors);
      errors.check(one.finish());
      tables.push_back(std::move(one));
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
