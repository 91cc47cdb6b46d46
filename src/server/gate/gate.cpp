/// The gate: decides by scopes and access rules whether a caller may perform an operation.
#include "server/gate/gate.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/digest.hpp"
#include "base/match/suggestion.hpp"
#include "base/uri/equivalent_uris.hpp"
#include "protocol/model/caller_checks.hpp"
#include "server/access/rules.hpp"
#include "server/gate/operation_names.hpp"

namespace hondana::gate {
namespace {

// An access filter that is removed is made again when it is needed.
constexpr std::size_t max_filters = 1024;

class scope_filter final : public access_filter {
 public:
  scope_filter(std::shared_ptr<const guarded_uris> uris, const std::vector<bool>& lacking,
               std::shared_ptr<const access_filter> filter)
      : uris_(std::move(uris)), filter_(std::move(filter)) {
    auto serialized = "scopes " + std::to_string(filter_ ? filter_->id() : 0);
    for (std::size_t i = 0; i < lacking.size(); ++i) {
      if (!lacking[i]) continue;
      const auto& rule_uris = (*uris_)[i];
      guarded_.push_back(&rule_uris);
      for (const auto& prefix : rule_uris.prefixes) (serialized += ' ') += std::to_string(prefix.size()) + ':' + prefix;
      for (const auto& compiled : rule_uris.templates) (serialized += ' ') += compiled.text();
      serialized += '\n';
    }
    id_ = bytes::digest_of(serialized)[0];
  }

  std::uint64_t id() const noexcept override { return id_; }
  bool may_see(std::string_view uri) const override { return !filter_ || filter_->may_see(uri); }
  bool may_read(std::string_view uri) const override { return (!filter_ || filter_->may_read(uri)) && has_scopes(uri); }
  bool uses_entries() const noexcept override { return filter_ && filter_->uses_entries(); }
  bool may_see_entry(const resource& entry) const override { return !filter_ || filter_->may_see_entry(entry); }
  bool may_read_entry(const resource& entry) const override {
    return (!filter_ || filter_->may_read_entry(entry)) && has_scopes(entry.uri);
  }
  bool may_see_any(const uri_template& compiled) const override { return !filter_ || filter_->may_see_any(compiled); }

 private:
  bool has_scopes(std::string_view uri) const {
    if (access::needs_normalization(uri)) return has_scopes_for_normalized(access::normalize_uri(uri));
    return has_scopes_for_normalized(uri);
  }
  bool has_scopes_for_normalized(std::string_view uri) const {
    return std::none_of(guarded_.begin(), guarded_.end(), [uri](const auto* rule_uris) { return rule_uris->contains(uri); });
  }

  std::shared_ptr<const guarded_uris> uris_;
  std::shared_ptr<const access_filter> filter_;
  std::vector<const uri_set*> guarded_;
  std::uint64_t id_ = 0;
};

}  // namespace

bool uri_set::contains(std::string_view uri) const {
  if (prefixes.empty() && templates.empty()) return true;
  // A part of a resource is as protected as the whole.
  const auto resource_uri = access::strip_query_and_fragment(uri);
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [uri](const auto& prefix) { return access::prefix_applies(prefix, uri); }) ||
         std::any_of(templates.begin(), templates.end(), [&](const auto& compiled) {
           return compiled.match(uri).has_value() || compiled.match(resource_uri).has_value();
         });
}

scope_filter_cache::scope_filter_cache(guarded_uris uris) : uris_(std::make_shared<const guarded_uris>(std::move(uris))) {}

std::shared_ptr<const access_filter> scope_filter_cache::narrow(const std::vector<bool>& lacking,
                                                                std::shared_ptr<const access_filter> filter) const {
  if (std::find(lacking.begin(), lacking.end(), true) == lacking.end()) return filter;
  const std::lock_guard lock(mutex_);
  const auto existing = filters_.find({lacking, filter.get()});
  if (existing != filters_.end()) return existing->second;
  if (filters_.size() == max_filters) filters_.erase(filters_.begin());
  const auto* const outer = filter.get();
  auto created = std::make_shared<const scope_filter>(uris_, lacking, std::move(filter));
  filters_.emplace(key{lacking, outer}, created);
  return created;
}

namespace {

// Limit for the other spellings of one operation's URIs, in bytes. A hundred thousand take about a millisecond.
constexpr std::size_t max_form_bytes = 4u << 20;

bool is_template(std::string_view text) { return text.find('{') != std::string_view::npos; }

tl::unexpected<failure> reject(const std::string& reason) { return fail(errc::invalid_argument, "Scope rules: " + reason); }

result<void> check_scopes(const std::vector<std::string>& scopes) {
  for (const auto& scope : scopes) {
    if (!model::is_scope(scope)) {
      return reject(
          "\"" + scope +
          "\" is not a scope: use at most 256 letters, digits and signs, without spaces, quotation marks and backslashes.");
    }
  }
  return {};
}

result<void> check_rule(const scope_rule& rule) {
  if (rule.scopes.empty()) return reject("a rule has no scopes. List the scopes that it requires, or remove the rule.");
  HONDANA_TRY(check_scopes(rule.scopes));
  for (const auto& method : rule.methods) {
    if (!is_method(method)) {
      return reject("\"" + method + "\" is not a method that a rule can apply to" +
                    match::suggest_known(method, known_methods()));
    }
  }
  for (const auto& uri : rule.uris) {
    if (is_template(uri)) {
      if (const auto compiled = uri_template::compile(uri); !compiled) return reject(compiled.error().public_text);
      continue;
    }
    const auto canonical = canonical_uri(uri);
    if (!canonical) return reject("\"" + uri + "\": " + canonical.error().public_text);
    if (*canonical != uri) return reject("\"" + uri + "\" is not in canonical form. Write " + *canonical + ".");
  }
  return {};
}

using inclusions = std::map<std::string, std::set<std::string>>;

/// All scopes that each scope includes, directly and indirectly. A scope that then includes itself is part of a circle.
inclusions expand_implied(const std::map<std::string, std::vector<std::string>>& implied) {
  inclusions out;
  for (const auto& [scope, narrower] : implied) out[scope].insert(narrower.begin(), narrower.end());
  for (bool is_growing = true; is_growing;) {
    is_growing = false;
    for (auto& [scope, included] : out) {
      const auto old_size = included.size();
      for (const auto& included_scope : std::set<std::string>(included)) {
        if (const auto entry = out.find(included_scope); entry != out.end())
          included.insert(entry->second.begin(), entry->second.end());
      }
      is_growing = is_growing || included.size() != old_size;
    }
  }
  return out;
}

/// `is_comparable`: whether the URIs have few enough spellings to compare. If not, every rule about URIs applies.
bool matches(const scope_rule& rule, const uri_set& uris, const subject& subject, bool is_comparable) {
  const auto contains = [](const auto& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  const auto applies_to = [&](std::string_view method) { return contains(rule.methods, method); };
  if (!rule.methods.empty() && std::none_of(subject.methods.begin(), subject.methods.end(), applies_to)) return false;
  if (!rule.names.empty() && (subject.name.empty() || !contains(rule.names, subject.name))) return false;
  return rule.uris.empty() || !is_comparable ||
         std::any_of(subject.uris.begin(), subject.uris.end(), [&](std::string_view uri) { return uris.contains(uri); });
}

bool grants_scope(const inclusions& included, const auth_info& auth_info, const std::string& scope) {
  return std::any_of(auth_info.scopes.begin(), auth_info.scopes.end(), [&](const std::string& granted) {
    if (granted == scope) return true;
    const auto broader = included.find(granted);
    return broader != included.end() && broader->second.contains(scope);
  });
}

}  // namespace

result<std::shared_ptr<const gate>> gate::make(scope_rules rules, const access_rules& access, std::vector<std::string> mounts) {
  HONDANA_TRY(validate_scope_rules(rules));
  const auto created = std::make_shared<gate>();
  created->mounts_ = std::move(mounts);
  created->rules_ = std::move(rules);
  created->included_scopes_ = expand_implied(created->rules_.implied);
  for (const auto& rule : created->rules_.rules) {
    auto& uris = created->rule_uris_.emplace_back();
    for (const auto& uri : rule.uris) {
      if (!is_template(uri)) {
        uris.prefixes.push_back(access::normalize_uri(uri));
        continue;
      }
      HONDANA_TRY(auto compiled, uri_template::compile(access::normalize_uri(uri)));
      uris.templates.push_back(std::move(compiled));
    }
  }
  guarded_uris guarded;
  for (std::size_t i = 0; i < created->rules_.rules.size(); ++i) {
    const auto& rule = created->rules_.rules[i];
    const bool applies_to_reading =
        rule.methods.empty() || std::find(rule.methods.begin(), rule.methods.end(), "resources/read") != rule.methods.end();
    if (!applies_to_reading || !rule.names.empty()) continue;
    created->read_rules_.push_back(i);
    guarded.push_back(created->rule_uris_[i]);
  }
  if (!guarded.empty()) created->scope_filters_ = std::make_shared<const scope_filter_cache>(std::move(guarded));
  auto policy = access::policy::make(
      access, [included = created->included_scopes_](const auth_info& auth_info, const std::string& scope) {
        return grants_scope(included, auth_info, scope);
      });
  if (!policy) return tl::unexpected(std::move(policy.error()));
  if (!(*policy)->is_unrestricted()) created->policy_ = std::move(*policy);
  return std::shared_ptr<const gate>(created);
}

std::vector<std::string> gate::all_scopes() const {
  auto out = rules_.always_required;
  std::set<std::string> known(out.begin(), out.end());
  const auto add = [&](const std::string& scope) {
    if (known.insert(scope).second) out.push_back(scope);
  };
  for (const auto& rule : rules_.rules) std::for_each(rule.scopes.begin(), rule.scopes.end(), add);
  for (const auto& [scope, narrower] : rules_.implied) add(scope);
  return out;
}

gate::scopes gate::required_scopes(const model::operation& operation) const {
  auto required = rules_.always_required;
  auto subject = subject_of(operation);
  // Rules also apply to other spellings of a mounted server's URIs.
  std::vector<std::string> all_forms;
  bool is_comparable = true;
  std::size_t spent = 0;
  for (std::size_t i = 0; !rules_.rules.empty() && is_comparable && i < subject.uris.size(); ++i) {
    auto forms = uri::nested_equivalent_forms(subject.uris[i], mounts_, spent);
    is_comparable = forms && spent <= max_form_bytes;
    if (forms) std::move(forms->begin(), forms->end(), std::back_inserter(all_forms));
  }
  subject.uris.insert(subject.uris.end(), all_forms.begin(), all_forms.end());
  // The same name in NFC and NFD needs the same scopes.
  std::vector<std::string> normalized;
  if (!rules_.rules.empty()) {
    std::transform(subject.uris.begin(), subject.uris.end(), std::back_inserter(normalized), access::normalize_uri);
    subject.uris.assign(normalized.begin(), normalized.end());
  }
  for (std::size_t i = 0; !subject.methods.empty() && i < rules_.rules.size(); ++i) {
    if (!matches(rules_.rules[i], rule_uris_[i], subject, is_comparable)) continue;
    for (const auto& scope : rules_.rules[i].scopes) {
      if (std::find(required.begin(), required.end(), scope) == required.end()) required.push_back(scope);
    }
  }
  return required;
}

std::shared_ptr<const access_filter> gate::filter_of(const caller_info& caller) const {
  auto filter = policy_ ? policy_->filter_of(caller) : caller.access_filter;
  if (!scope_filters_ || !caller.auth_info) return filter;
  std::vector<bool> lacking;
  for (const auto i : read_rules_) {
    const auto& required = rules_.rules[i].scopes;
    lacking.push_back(!std::all_of(required.begin(), required.end(), [&](const std::string& scope) {
      return grants_scope(included_scopes_, *caller.auth_info, scope);
    }));
  }
  return scope_filters_->narrow(lacking, std::move(filter));
}

std::vector<std::size_t> gate::matching_rules(std::string_view raw_uri) const {
  const auto uri = access::normalize_uri(raw_uri);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
    if (!rules_.rules[i].uris.empty() && rule_uris_[i].contains(uri)) out.push_back(i);
  }
  return out;
}

bool gate::has_scopes_of(const caller_info& caller, const auth_info* origin) const {
  if (!caller.auth_info) return true;
  if (origin == nullptr) return false;
  return std::all_of(origin->scopes.begin(), origin->scopes.end(),
                     [&](const std::string& scope) { return grants_scope(included_scopes_, *caller.auth_info, scope); });
}

result<void> gate::admit(const caller_info& caller, const model::operation& operation) const {
  if (!caller.auth_info || (rules_.always_required.empty() && rules_.rules.empty())) return {};
  auto required = required_scopes(operation);
  const bool is_enough = std::all_of(required.begin(), required.end(), [&](const std::string& scope) {
    return grants_scope(included_scopes_, *caller.auth_info, scope);
  });
  if (is_enough) return {};
  failure error{errc::insufficient_scope,
                "Not allowed: this needs the scopes " + model::join_words(required) +
                    ", and the caller lacks some of them. Request a token with all of them.",
                {}};
  error.scopes = std::make_shared<const scopes>(std::move(required));
  return tl::unexpected(std::move(error));
}

}  // namespace hondana::gate

namespace hondana::inline v0 {

result<void> validate_scope_rules(const scope_rules& rules) {
  HONDANA_TRY(gate::check_scopes(rules.always_required));
  for (const auto& rule : rules.rules) {
    HONDANA_TRY(gate::check_rule(rule));
  }
  for (const auto& [scope, narrower] : rules.implied) {
    HONDANA_TRY(gate::check_scopes({scope}));
    HONDANA_TRY(gate::check_scopes(narrower));
  }
  for (const auto& [scope, included] : gate::expand_implied(rules.implied)) {
    if (included.contains(scope))
      return gate::reject("the scope \"" + scope + "\" includes itself through the scopes that it includes.");
  }
  return {};
}

}  // namespace hondana::inline v0

namespace hondana::gate {
namespace {

using uri_check = bool (access_filter::*)(std::string_view) const;
using entry_check = bool (access_filter::*)(const resource&) const;

template <class Predicate>
bool holds_for_all_forms(const gate& gate, std::string_view uri, const Predicate& predicate) {
  const auto holds_for = [&](std::string_view form) {
    const auto resource_uri = access::strip_query_and_fragment(form);
    return predicate(form) && (resource_uri.size() == form.size() || predicate(resource_uri));
  };
  if (!holds_for(uri)) return false;
  const auto forms = gate.other_forms(uri);
  return forms && std::all_of(forms->begin(), forms->end(), holds_for);
}

bool is_granted(const gate& gate, const access_filter* filter, std::string_view uri, uri_check may_access) {
  if (filter == nullptr) return true;
  return holds_for_all_forms(gate, uri, [&](std::string_view form) { return (filter->*may_access)(form); });
}

bool is_granted(const gate& gate, const access_filter* filter, const resource& entry, uri_check may_access,
                entry_check may_access_entry) {
  if (filter == nullptr || !filter->uses_entries()) return is_granted(gate, filter, entry.uri, may_access);
  std::optional<resource> other;
  return holds_for_all_forms(gate, entry.uri, [&](std::string_view form) {
    if (!(filter->*may_access)(form)) return false;
    if (form == entry.uri) return (filter->*may_access_entry)(entry);
    if (!other) other = entry;
    other->uri = form;
    return (filter->*may_access_entry)(*other);
  });
}

}  // namespace

std::optional<std::vector<std::string>> gate::other_forms(std::string_view uri) const {
  std::size_t spent = 0;
  return uri::nested_equivalent_forms(uri, mounts_, spent);
}

bool gate::may_see(const access_filter* filter, std::string_view uri) const {
  return is_granted(*this, filter, uri, &access_filter::may_see);
}

bool gate::may_read(const access_filter* filter, std::string_view uri) const {
  return is_granted(*this, filter, uri, &access_filter::may_read);
}

bool gate::may_see(const access_filter* filter, const resource& entry) const {
  return is_granted(*this, filter, entry, &access_filter::may_see, &access_filter::may_see_entry);
}

bool gate::may_read(const access_filter* filter, const resource& entry) const {
  return is_granted(*this, filter, entry, &access_filter::may_read, &access_filter::may_read_entry);
}

}  // namespace hondana::gate
