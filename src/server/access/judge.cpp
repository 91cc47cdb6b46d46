/// Which rules are about a caller, and one view for all of whom the same ones are.
#include "server/access/judge.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hondana::access {
namespace {

// Who asked longest ago does not matter: what is thrown away is made again.
constexpr std::size_t views_a_shelf = 64;
constexpr std::size_t narrowed_a_view = 64;

/// A claim by its name, or by the names of the objects it stands in with dots between.
const value* claim_in(const value& claims, std::string_view name) {
  if (const auto* found = claims.find(name)) return found;
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto* inner = claims.find(name.substr(0, dot));
  return inner == nullptr ? nullptr : claim_in(*inner, name.substr(dot + 1));
}

template <class Names>
bool names_any(const std::vector<std::string>& wanted, const Names& names) {
  return std::any_of(wanted.begin(), wanted.end(), [&names](const std::string& one) {
    return std::any_of(names.begin(), names.end(), [&one](std::string_view name) { return is_named(one, name); });
  });
}

}  // namespace

result<std::shared_ptr<const judge>> judge::make(const access_rules& rules, scope_check has_scope) {
  HONDANA_TRY(check(rules));
  rule_list compiled;
  for (const auto& one : rules.rules) {
    HONDANA_TRY(auto made, rule::make(one, compiled.size() + 1));
    compiled.push_back(std::move(made));
  }
  return std::shared_ptr<const judge>(
      new judge(std::make_shared<const rule_list>(std::move(compiled)), rules.group_claim, std::move(has_scope)));
}

std::vector<std::string_view> judge::groups_of(const caller& who) const {
  std::vector<std::string_view> groups;
  const auto* claim = who.proof ? claim_in(who.proof->claims, group_claim_) : nullptr;
  if (claim == nullptr) return groups;
  if (const auto* one = claim->as_string()) groups.emplace_back(*one);
  if (const auto* several = claim->as_array()) {
    for (const auto& one : *several) {
      if (const auto* name = one.as_string()) groups.emplace_back(*name);
    }
  }
  return groups;
}

bool judge::is_about(const rule& one, const caller& who, const std::vector<std::string_view>& groups) const {
  const auto& what = one.what();
  if (!what.identities.empty() && !names_any(what.identities, std::array{std::string_view(who.identity)})) return false;
  if (!what.groups.empty() && !names_any(what.groups, groups)) return false;
  if (what.scopes.empty()) return true;
  return who.proof && std::any_of(what.scopes.begin(), what.scopes.end(),
                                  [&](const std::string& scope) { return has_scope_(*who.proof, scope); });
}

template <class Take>
auto judge::take_views(const caller& who, Take&& take) const {
  const auto groups = groups_of(who);
  std::vector<std::size_t> which;
  std::string key((rules_->size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < rules_->size(); ++i) {
    if (!is_about((*rules_)[i], who, groups)) continue;
    which.push_back(i);
    key[i / 8] = static_cast<char>(key[i / 8] | (1 << (i % 8)));
  }
  auto& mine = shelves_[std::hash<std::string>()(key) % shelves_.size()];
  const std::lock_guard lock(mine.mutex);
  auto found = mine.by_rules.find(key);
  if (found == mine.by_rules.end()) {
    if (mine.by_rules.size() == views_a_shelf) mine.by_rules.erase(mine.by_rules.begin());
    found = mine.by_rules.emplace(std::move(key), views{std::make_shared<const decisions>(rules_, which), {}}).first;
  }
  return take(found->second);
}

std::shared_ptr<const decisions> judge::decisions_of(const caller& who) const {
  return take_views(who, [](const views& all) { return all.alone; });
}

std::shared_ptr<const view> judge::view_of(const caller& who) const {
  if (is_open()) return who.view;
  return take_views(who, [&who](views& all) -> std::shared_ptr<const view> {
    if (!who.view) return all.alone;
    if (const auto known = all.with.find(who.view.get()); known != all.with.end()) return known->second;
    if (all.with.size() == narrowed_a_view) all.with.erase(all.with.begin());
    auto made = std::make_shared<const narrowed>(all.alone, who.view);
    all.with.emplace(who.view.get(), made);
    return made;
  });
}

std::vector<finding> judge::explain(const caller& who, const resource& entry) const {
  const auto groups = groups_of(who);
  std::vector<finding> all;
  for (const auto& one : *rules_) {
    all.push_back({one.number(), one.what().gives, is_about(one, who, groups), one.is_about_uri(entry.uri),
                   one.is_about_entry(entry), false});
  }
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const finding& one) {
    return one.is_about_caller && one.is_about_uri && one.is_about_entry;
  });
  if (last != all.rend()) last->decides = true;
  return all;
}

}  // namespace hondana::access
