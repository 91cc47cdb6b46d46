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
#include "server/access/access_views.hpp"

namespace hondana::gate {

/// The compiled `uris` of a scope rule, in normal form.
struct named_uris {
  std::vector<std::string> prefixes{};
  std::vector<uri_template> templates{};

  /// Whether the rule includes this URI (in normal form), as a resource or a part of one. A rule without URIs includes all.
  [[nodiscard]] bool has(std::string_view uri) const;
};

/// The URIs of each scope rule about reading.
using guarded_uris = std::vector<named_uris>;

/// Makes access filters from scopes, and caches the most recent ones. Sources check the caller's access filter before they
/// return anything derived from a resource, such as a patch or an outline. Threads: any.
class scoped_views {
 public:
  explicit scoped_views(guarded_uris all);

  /// Narrows the access filter `through` (null: everything) by missing scopes. `lacking`: for each rule, whether the caller
  /// lacks one of its scopes. Callers that lack the same get the same filter; callers that lack nothing get `through`.
  [[nodiscard]] std::shared_ptr<const view> narrow(const std::vector<bool>& lacking, std::shared_ptr<const view> through) const;

 private:
  using key = std::pair<std::vector<bool>, const view*>;

  std::shared_ptr<const guarded_uris> all_;
  mutable std::mutex mutex_;
  mutable std::map<key, std::shared_ptr<const view>> made_;
};

/// Applies scope rules and access rules. Immutable. Threads: any.
class gate {
 public:
  /// Without rules: permits everything.
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  /// `mounts`: the prefixes of mounted servers, whose URIs may have several spellings. Errors: as `check` of either kind of
  /// rules.
  [[nodiscard]] static result<std::shared_ptr<const gate>> make(scope_rules rules, const access_rules& allowed = {},
                                                                std::vector<std::string> mounts = {});

  /// Checks the scopes of an operation. Callers without a proof pass. Errors: scope_missing with all scopes that the operation
  /// requires, if the caller's proof lacks one of them.
  [[nodiscard]] result<void> admit(const caller& who, const model::operation& what) const;
  /// Whether `who` may receive something that was made for a caller with the proof `shown`. True if `who` has no proof, or has
  /// all scopes of `shown`, directly or included in others. False if only `who` has a proof.
  [[nodiscard]] bool has_scopes_of(const caller& who, const proof* shown) const;
  /// All scopes that the operation requires, without duplicates.
  [[nodiscard]] std::vector<std::string> needed_for(const model::operation& what) const;
  /// Positions of the rules whose `uris` include a canonical URI.
  [[nodiscard]] std::vector<std::size_t> rules_about(std::string_view asked) const;
  /// The caller's access filter, from access rules, scopes, and the filter that the caller already has. Null: everything.
  [[nodiscard]] std::shared_ptr<const view> view_of(const caller& who) const;
  /// Whether `through` (null: everything) permits seeing a canonical URI, and all other spellings that a mounted server may
  /// treat as equal. A rule for a resource applies to all of its parts: a rule about a file holds for its lines and fragments
  /// too.
  [[nodiscard]] bool may_see(const view* through, std::string_view uri) const;
  /// The same for reading.
  [[nodiscard]] bool may_read(const view* through, std::string_view uri) const;
  /// The same for a resource with this entry, which access filters may examine.
  [[nodiscard]] bool may_see(const view* through, const resource& entry) const;
  [[nodiscard]] bool may_read(const view* through, const resource& entry) const;
  /// Other spellings that a mounted server may treat as equal to a canonical URI. nullopt: too many to compare.
  [[nodiscard]] std::optional<std::vector<std::string>> other_spellings(std::string_view uri) const;

  /// What access rules grant for tools and prompts. Null: everything.
  [[nodiscard]] std::shared_ptr<const access::decisions> decisions_of(const caller& who) const {
    return access_ ? access_->decisions_of(who) : nullptr;
  }
  /// Whether callers may differ in what they see or read.
  [[nodiscard]] bool tells_callers_apart() const noexcept { return access_ != nullptr || scoped_ != nullptr; }
  /// The access rules; null when there are none.
  [[nodiscard]] const access::judge* judge() const noexcept { return access_.get(); }
  /// The scopes that every request requires.
  [[nodiscard]] const std::vector<std::string>& always() const noexcept { return rules_.always; }
  /// Every scope that a rule names or that includes others, without duplicates. Clients may request these at the authorization
  /// server.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  using scopes = std::vector<std::string>;

  scope_rules rules_;
  std::vector<named_uris> named_;                          // one for each rule
  std::vector<std::size_t> about_reading_;                 // positions in `rules_`
  std::shared_ptr<const scoped_views> scoped_;             // null: no rule is about reading
  std::map<std::string, std::set<std::string>> included_;  // by scope, including indirectly included ones
  std::shared_ptr<const access::judge> access_;            // null: no access rules
  std::vector<std::string> mounts_;
};

}  // namespace hondana::gate
