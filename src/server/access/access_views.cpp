/// Access filters from access rules: which rules apply to a caller, and what they permit.
#include "server/access/access_views.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/threads/thread_variable.hpp"
#include "server/access/rules.hpp"

namespace hondana::access {
namespace {

/// Appends everything that a decision depends on, each part with its length.
void spell(std::string& out, const access_rule& what) {
  const auto add = [&out](std::string_view part) { (out += std::to_string(part.size()) + ':') += part; };
  for (const auto* all : {&what.uris, &what.patterns, &what.kinds, &what.tools, &what.prompts}) {
    add(std::to_string(all->size()));
    for (const auto& one : *all) add(one);
  }
  add(!what.audience ? "" : *what.audience == role::user ? "user" : "assistant");
  add(std::to_string(static_cast<int>(what.gives)));
}

/// The decision for a URI, cached because the audit log, the catalog and clients ask for the same URIs repeatedly.
struct remembered {
  std::uint64_t id = 0;  // id of the rules, equal for equal rules only
  std::string uri;
  grant most = grant::none;
};
constexpr std::size_t remembered_by_thread = 64;
constexpr std::size_t longest_remembered = 512;

}  // namespace

decisions::decisions(std::shared_ptr<const rule_list> all, const std::vector<std::size_t>& which) : all_(std::move(all)) {
  std::string spelled = "access";
  for (const auto index : which) {
    const auto& one = (*all_)[index];
    spell(spelled, one.what());
    last_first_.push_back(&one);
    looks_at_entries_ = looks_at_entries_ || one.looks_at_entries();
  }
  std::reverse(last_first_.begin(), last_first_.end());
  id_ = bytes::digest_of(spelled)[0];
}

grant decisions::most_of_one(std::string_view uri) const {
  auto most = grant::none;
  for (const auto* one : last_first_) {
    if (!one->is_about_uri_in_one_form(uri)) continue;
    most = std::max(most, one->what().gives);
    if (!one->looks_at_entries()) return most;  // earlier rules are overridden
  }
  return most;
}

grant decisions::looked_up(std::string_view asked) const {
  // Once, instead of for each rule.
  const auto uri = in_one_form(asked);
  const auto whole = whole_of(uri);
  const auto most = most_of_one(uri);
  // If a resource is hidden, all of its parts are.
  return whole.size() == uri.size() ? most : std::min(most, most_of_one(whole));
}

grant decisions::most_of(std::string_view uri) const {
  if (uri.size() > longest_remembered) return looked_up(uri);
  auto* const last = threads::own<std::array<remembered, remembered_by_thread>>();
  if (last == nullptr) return looked_up(uri);
  auto& place = (*last)[std::hash<std::string_view>()(uri) % last->size()];
  if (place.id != id_ || place.uri != uri) {
    const auto most = looked_up(uri);
    place.id = 0;  // in case copying the URI throws
    place.uri = uri;
    place.most = most;
    place.id = id_;
  }
  return place.most;
}

grant decisions::of_one(std::string_view uri, const resource& entry) const {
  const auto decides = std::find_if(last_first_.begin(), last_first_.end(), [&](const rule* one) {
    return one->is_about_uri_in_one_form(uri) && one->is_about_entry(entry);
  });
  return decides == last_first_.end() ? grant::none : (*decides)->what().gives;
}

grant decisions::of(const resource& entry) const {
  const auto uri = in_one_form(entry.uri);
  const auto whole = whole_of(uri);
  const auto all = of_one(uri, entry);
  return whole.size() == uri.size() ? all : std::min(all, of_one(whole, entry));
}

grant decisions::of_tool(std::string_view name, bool is_built_in) const {
  const auto decides =
      std::find_if(last_first_.begin(), last_first_.end(), [name](const rule* one) { return one->is_about_tool(name); });
  if (decides != last_first_.end()) return (*decides)->what().gives;
  return is_built_in ? grant::read : grant::none;
}

grant decisions::of_prompt(std::string_view name) const {
  const auto decides =
      std::find_if(last_first_.begin(), last_first_.end(), [name](const rule* one) { return one->is_about_prompt(name); });
  return decides == last_first_.end() ? grant::none : (*decides)->what().gives;
}

bool decisions::may_see_some(const uri_template& of) const {
  for (const auto* one : last_first_) {
    const auto share = one->share_of(of);
    if (share == rule::share::none) continue;
    if (one->what().gives >= grant::list) return true;
    if (share == rule::share::all && !one->looks_at_entries()) return false;
  }
  return false;
}

narrowed::narrowed(std::shared_ptr<const view> one, std::shared_ptr<const view> other)
    : one_(std::move(one)),
      other_(std::move(other)),
      id_(bytes::digest_of("both " + std::to_string(one_->id()) + ' ' + std::to_string(other_->id()))[0]) {}

namespace {

// An arbitrary filter is evicted; it is made again when needed.
constexpr std::size_t views_a_shelf = 64;
constexpr std::size_t narrowed_a_view = 64;

/// A claim by name, or by a path of member names separated by dots.
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
