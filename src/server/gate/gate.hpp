/// The gate: decides by scopes and access rules whether a caller may perform an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/scopes.hpp>
#include <hondana/uri.hpp>

#include "protocol/model/operations.hpp"
#include "server/access/access_filters.hpp"

namespace hondana::gate {

/// The `uris` of a scope rule, compiled and in normal form (`access::normalize_uri`). An empty set includes all URIs.
struct uri_set {
  std::vector<std::string> prefixes{};
  std::vector<uri_template> templates{};

  /// Whether the set includes a URI (in normal form), or the resource that it is a part of.
  [[nodiscard]] bool contains(std::string_view uri) const;
};

/// The URIs of those scope rules that apply to reading, one element per rule.
using guarded_uris = std::vector<uri_set>;

/// Makes access filters that forbid reading for lack of scopes, and caches some of them. Sources check the caller's access
/// filter before they return anything derived from a resource, such as a patch or an outline. Threads: any.
class scope_filter_cache {
 public:
  explicit scope_filter_cache(guarded_uris uris);

  /// Narrows `filter` (null: everything) to resources that the caller has the scopes to read. `lacking`: for each element of
  /// `guarded_uris`, whether the caller lacks a scope of its rule. Returns `filter` itself if none is lacking. Equal arguments
  /// usually give the same object.
  [[nodiscard]] std::shared_ptr<const access_filter> narrow(const std::vector<bool>& lacking,
                                                            std::shared_ptr<const access_filter> filter) const;

 private:
  using key = std::pair<std::vector<bool>, const access_filter*>;

  std::shared_ptr<const guarded_uris> uris_;
  mutable std::mutex mutex_;
  mutable std::map<key, std::shared_ptr<const access_filter>> filters_;
};

/// Decides by scope rules and access rules what callers may do. Immutable. Threads: any.
class gate {
 public:
  /// A gate without rules.
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  /// `mounts`: the prefixes of mounted servers, whose URIs may have several spellings. Errors: as `validate_scope_rules` and
  /// `validate_access_rules`.
  [[nodiscard]] static result<std::shared_ptr<const gate>> make(scope_rules rules, const access_rules& access = {},
                                                                std::vector<std::string> mounts = {});

  /// Checks whether the caller has the scopes for an operation. Does not check access rules. Callers without `auth_info` pass.
  /// Errors: insufficient_scope, with all scopes that the operation requires.
  [[nodiscard]] result<void> admit(const caller_info& caller, const model::operation& operation) const;
  /// Whether `caller` has the scopes to receive messages that were made for another caller. `origin`: the `auth_info` of that
  /// caller; null: none. True if `caller` has no `auth_info`, or has all scopes of `origin`, directly or included in others.
  /// False if only `caller` has `auth_info`.
  [[nodiscard]] bool has_scopes_of(const caller_info& caller, const auth_info* origin) const;
  /// All scopes that an operation requires, without duplicates.
  [[nodiscard]] std::vector<std::string> required_scopes(const model::operation& operation) const;
  /// Positions in `scope_rules::rules` of the rules whose `uris` include a canonical URI. Rules without `uris` are left out.
  [[nodiscard]] std::vector<std::size_t> matching_rules(std::string_view raw_uri) const;
  /// The caller's access filter, from access rules, scopes, and the filter in `caller`. Null: everything.
  [[nodiscard]] std::shared_ptr<const access_filter> filter_of(const caller_info& caller) const;
  /// Whether `filter` (null: everything) permits seeing a canonical URI, also in all spellings that a mounted server may treat
  /// as equal. False if there are too many to compare. A part of a resource is visible only if the whole is.
  [[nodiscard]] bool may_see(const access_filter* filter, std::string_view uri) const;
  /// Whether `filter` permits reading; otherwise as `may_see`.
  [[nodiscard]] bool may_read(const access_filter* filter, std::string_view uri) const;
  /// As `may_see` for a URI, for the resource with this entry. Access filters may examine its kind and annotations.
  [[nodiscard]] bool may_see(const access_filter* filter, const resource& entry) const;
  /// Whether `filter` permits reading the resource with this entry; otherwise as `may_see`.
  [[nodiscard]] bool may_read(const access_filter* filter, const resource& entry) const;
  /// Other spellings that a mounted server may treat as equal to a canonical URI. nullopt: too many to compare.
  [[nodiscard]] std::optional<std::vector<std::string>> other_forms(std::string_view uri) const;

  /// What access rules grant the caller, for tools and prompts. Null: everything.
  [[nodiscard]] std::shared_ptr<const access::rule_filter> rule_filter_of(const caller_info& caller) const {
    return policy_ ? policy_->rule_filter_of(caller) : nullptr;
  }
  /// Whether there are rules by which callers may differ in what they see or read.
  [[nodiscard]] bool distinguishes_callers() const noexcept { return policy_ != nullptr || scope_filters_ != nullptr; }
  /// The access rules; null when there are none.
  [[nodiscard]] const access::policy* policy() const noexcept { return policy_.get(); }
  /// The scopes that every request requires.
  [[nodiscard]] const std::vector<std::string>& always_required() const noexcept { return rules_.always_required; }
  /// Every scope that a rule requires or that includes others, without duplicates. Clients may request these at the
  /// authorization server.
  [[nodiscard]] std::vector<std::string> all_scopes() const;

 private:
  using scopes = std::vector<std::string>;

  scope_rules rules_;
  std::vector<uri_set> rule_uris_;                                // one for each of the rules in `rules_`
  std::vector<std::size_t> read_rules_;                           // positions in `rules_` of the rules that apply to reading
  std::shared_ptr<const scope_filter_cache> scope_filters_;       // null: no rule applies to reading
  std::map<std::string, std::set<std::string>> included_scopes_;  // by scope, including indirectly included ones
  std::shared_ptr<const access::policy> policy_;                  // null: no access rules
  std::vector<std::string> mounts_;
};

}  // namespace hondana::gate
