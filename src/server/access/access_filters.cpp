/// Access filters from access rules: which rules apply to a caller, and what they permit.
#include "server/access/access_filters.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/threads/thread_instance.hpp"
#include "server/access/rules.hpp"

namespace hondana::access {
namespace {

/// Appends everything that a decision depends on, each part with its length.
void serialize_rule(std::string& out, const access_rule& rule) {
  const auto add = [&out](std::string_view field) { (out += std::to_string(field.size()) + ':') += field; };
  for (const auto* values : {&rule.uris, &rule.patterns, &rule.kinds, &rule.tools, &rule.prompts}) {
    add(std::to_string(values->size()));
    for (const auto& value : *values) add(value);
  }
  add(!rule.audience ? "" : *rule.audience == chat_role::user ? "user" : "assistant");
  add(std::to_string(static_cast<int>(rule.level)));
}

/// The decision for a URI, cached because the audit log, the catalog and clients ask for the same URIs repeatedly.
struct cached_decision {
  std::uint64_t id = 0;  // id of the rules, equal for equal rules only
  std::string uri;
  access_level max_level = access_level::none;
};
constexpr std::size_t cached_per_thread = 64;
constexpr std::size_t max_cached_uri_bytes = 512;

}  // namespace

rule_filter::rule_filter(std::shared_ptr<const rule_list> rules, const std::vector<std::size_t>& applicable)
    : rules_(std::move(rules)) {
  std::string serialized = "access";
  for (const auto index : applicable) {
    const auto& rule = (*rules_)[index];
    serialize_rule(serialized, rule.definition());
    by_precedence_.push_back(&rule);
    has_entry_conditions_ = has_entry_conditions_ || rule.has_entry_conditions();
  }
  std::reverse(by_precedence_.begin(), by_precedence_.end());
  id_ = bytes::digest_of(serialized)[0];
}

access_level rule_filter::max_level_normalized(std::string_view uri) const {
  auto level = access_level::none;
  for (const auto* rule : by_precedence_) {
    if (!rule->matches_normalized_uri(uri)) continue;
    level = std::max(level, rule->definition().level);
    if (!rule->has_entry_conditions()) return level;  // earlier rules are overridden
  }
  return level;
}

access_level rule_filter::find_max_level(std::string_view raw_uri) const {
  // Once, instead of for each rule.
  const auto uri = normalize_uri(raw_uri);
  const auto resource_uri = strip_query_and_fragment(uri);
  const auto level = max_level_normalized(uri);
  // If a resource is hidden, all of its parts are.
  return resource_uri.size() == uri.size() ? level : std::min(level, max_level_normalized(resource_uri));
}

access_level rule_filter::max_level(std::string_view uri) const {
  if (uri.size() > max_cached_uri_bytes) return find_max_level(uri);
  auto* const cache = threads::thread_instance<std::array<cached_decision, cached_per_thread>>();
  if (cache == nullptr) return find_max_level(uri);
  auto& slot = (*cache)[std::hash<std::string_view>()(uri) % cache->size()];
  if (slot.id != id_ || slot.uri != uri) {
    const auto level = find_max_level(uri);
    slot.id = 0;  // in case copying the URI throws
    slot.uri = uri;
    slot.max_level = level;
    slot.id = id_;
  }
  return slot.max_level;
}

access_level rule_filter::level_normalized(std::string_view uri, const resource& entry) const {
  const auto decisive = std::find_if(by_precedence_.begin(), by_precedence_.end(), [&](const rule* rule) {
    return rule->matches_normalized_uri(uri) && rule->matches_entry(entry);
  });
  return decisive == by_precedence_.end() ? access_level::none : (*decisive)->definition().level;
}

access_level rule_filter::level_of(const resource& entry) const {
  const auto uri = normalize_uri(entry.uri);
  const auto resource_uri = strip_query_and_fragment(uri);
  const auto level = level_normalized(uri, entry);
  return resource_uri.size() == uri.size() ? level : std::min(level, level_normalized(resource_uri, entry));
}

access_level rule_filter::level_of_tool(std::string_view name, bool is_built_in) const {
  const auto decisive =
      std::find_if(by_precedence_.begin(), by_precedence_.end(), [name](const rule* rule) { return rule->matches_tool(name); });
  if (decisive != by_precedence_.end()) return (*decisive)->definition().level;
  return is_built_in ? access_level::read : access_level::none;
}

access_level rule_filter::level_of_prompt(std::string_view name) const {
  const auto decisive = std::find_if(by_precedence_.begin(), by_precedence_.end(),
                                     [name](const rule* rule) { return rule->matches_prompt(name); });
  return decisive == by_precedence_.end() ? access_level::none : (*decisive)->definition().level;
}

bool rule_filter::may_see_any(const uri_template& compiled) const {
  for (const auto* candidate : by_precedence_) {
    const auto coverage = candidate->coverage_of(compiled);
    if (coverage == rule::coverage::none) continue;
    if (candidate->definition().level >= access_level::list) return true;
    if (coverage == rule::coverage::full && !candidate->has_entry_conditions()) return false;
  }
  return false;
}

combined_filter::combined_filter(std::shared_ptr<const access_filter> first, std::shared_ptr<const access_filter> second)
    : first_(std::move(first)),
      second_(std::move(second)),
      id_(bytes::digest_of("both " + std::to_string(first_->id()) + ' ' + std::to_string(second_->id()))[0]) {}

namespace {

// An arbitrary filter is evicted; it is made again when needed.
constexpr std::size_t max_filters_per_shard = 64;
constexpr std::size_t max_combined_per_filter = 64;

/// A claim by name, or by a path of member names separated by dots.
const value* find_claim(const value& claims, std::string_view name) {
  if (const auto* claim = claims.find(name)) return claim;
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto* inner = claims.find(name.substr(0, dot));
  return inner == nullptr ? nullptr : find_claim(*inner, name.substr(dot + 1));
}

template <class Names>
bool matches_any_name(const std::vector<std::string>& patterns, const Names& names) {
  return std::any_of(patterns.begin(), patterns.end(), [&names](const std::string& pattern) {
    return std::any_of(names.begin(), names.end(), [&pattern](std::string_view name) { return matches_name(pattern, name); });
  });
}

}  // namespace

result<std::shared_ptr<const policy>> policy::make(const access_rules& rules, scope_check has_scope) {
  HONDANA_TRY(validate_access_rules(rules));
  rule_list compiled;
  for (const auto& definition : rules.rules) {
    HONDANA_TRY(auto compiled_rule, rule::make(definition, compiled.size() + 1));
    compiled.push_back(std::move(compiled_rule));
  }
  return std::shared_ptr<const policy>(
      new policy(std::make_shared<const rule_list>(std::move(compiled)), rules.group_claim, std::move(has_scope)));
}

std::vector<std::string_view> policy::groups_of(const caller_info& caller) const {
  std::vector<std::string_view> groups;
  const auto* claim =
      caller.auth_info && caller.auth_info->claims ? find_claim(*caller.auth_info->claims, group_claim_) : nullptr;
  if (claim == nullptr) return groups;
  if (const auto* single = claim->as_string()) groups.emplace_back(*single);
  if (const auto* list = claim->as_array()) {
    for (const auto& element : *list) {
      if (const auto* name = element.as_string()) groups.emplace_back(*name);
    }
  }
  return groups;
}

bool policy::applies_to(const rule& rule, const caller_info& caller, const std::vector<std::string_view>& groups) const {
  const auto& definition = rule.definition();
  if (!definition.identities.empty() && !matches_any_name(definition.identities, std::array{std::string_view(caller.identity)}))
    return false;
  if (!definition.groups.empty() && !matches_any_name(definition.groups, groups)) return false;
  if (definition.scopes.empty()) return true;
  return caller.auth_info && std::any_of(definition.scopes.begin(), definition.scopes.end(),
                                         [&](const std::string& scope) { return has_scope_(*caller.auth_info, scope); });
}

template <class Action>
auto policy::with_filters(const caller_info& caller, Action&& action) const {
  const auto groups = groups_of(caller);
  std::vector<std::size_t> applicable;
  std::string key((rules_->size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < rules_->size(); ++i) {
    if (!applies_to((*rules_)[i], caller, groups)) continue;
    applicable.push_back(i);
    key[i / 8] = static_cast<char>(key[i / 8] | (1 << (i % 8)));
  }
  auto& shard = shards_[std::hash<std::string>()(key) % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  auto position = shard.by_rule_set.find(key);
  if (position == shard.by_rule_set.end()) {
    if (shard.by_rule_set.size() == max_filters_per_shard) shard.by_rule_set.erase(shard.by_rule_set.begin());
    position =
        shard.by_rule_set.emplace(std::move(key), cached_filters{std::make_shared<const rule_filter>(rules_, applicable), {}})
            .first;
  }
  return action(position->second);
}

std::shared_ptr<const rule_filter> policy::rule_filter_of(const caller_info& caller) const {
  return with_filters(caller, [](const cached_filters& filters) { return filters.rules_only; });
}

std::shared_ptr<const access_filter> policy::filter_of(const caller_info& caller) const {
  if (is_unrestricted()) return caller.access_filter;
  return with_filters(caller, [&caller](cached_filters& filters) -> std::shared_ptr<const access_filter> {
    if (!caller.access_filter) return filters.rules_only;
    if (const auto existing = filters.combined.find(caller.access_filter.get()); existing != filters.combined.end())
      return existing->second;
    if (filters.combined.size() == max_combined_per_filter) filters.combined.erase(filters.combined.begin());
    auto combined = std::make_shared<const combined_filter>(filters.rules_only, caller.access_filter);
    filters.combined.emplace(caller.access_filter.get(), combined);
    return combined;
  });
}

std::vector<rule_evaluation> policy::explain(const caller_info& caller, const resource& entry) const {
  const auto groups = groups_of(caller);
  std::vector<rule_evaluation> evaluations;
  for (const auto& rule : *rules_) {
    evaluations.push_back({rule.number(), rule.definition().level, applies_to(rule, caller, groups),
                           rule.matches_uri(entry.uri), rule.matches_entry(entry), false});
  }
  const auto last = std::find_if(evaluations.rbegin(), evaluations.rend(), [](const rule_evaluation& evaluation) {
    return evaluation.matches_caller && evaluation.matches_uri && evaluation.matches_entry;
  });
  if (last != evaluations.rend()) last->decides = true;
  return evaluations;
}

}  // namespace hondana::access
