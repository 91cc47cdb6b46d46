/// Decides by scopes and access rules whether a caller may do an operation.
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

/// The `uris` of a scope rule, in one form and ready to be compared.
struct named_uris {
  std::vector<std::string> prefixes{};
  std::vector<uri_template> templates{};

  /// Whether a URI in normal form is one of a resource that the rule names, or of a part of one. A rule without URIs names all.
  [[nodiscard]] bool has(std::string_view uri) const;
};

/// The URIs that each rule about reading names.
using guarded_uris = std::vector<named_uris>;

/// Makes such views, and keeps those that were asked for last. Sources ask a caller's view before they give anything that they
/// derive from a resource, such as a patch or an outline. Threads: any.
class scoped_views {
 public:
  explicit scoped_views(guarded_uris all);

  /// `lacking`: by rule, whether the caller lacks one of its scopes; `through`: what else it may see, null: everything. Callers
  /// who lack the same get the same view, and those who lack nothing get `through`.
  [[nodiscard]] std::shared_ptr<const view> narrow(const std::vector<bool>& lacking, std::shared_ptr<const view> through) const;

 private:
  using key = std::pair<std::vector<bool>, const view*>;

  std::shared_ptr<const guarded_uris> all_;
  mutable std::mutex mutex_;
  mutable std::map<key, std::shared_ptr<const view>> made_;
};

/// The place where access rules, rates and the audit record stand. Immutable. Threads: any.
class gate {
 public:
  /// Without rules: passes everything.
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  /// `mounts`: what URIs of other servers stand behind, which may be written otherwise there. Errors: as `check` of either.
  [[nodiscard]] static result<std::shared_ptr<const gate>> make(scope_rules rules, const access_rules& allowed = {},
                                                                std::vector<std::string> mounts = {});

  /// Errors: scope_missing, with all scopes that the operation needs, when what the caller has proved lacks one of them.
  /// Callers without a proof pass.
  [[nodiscard]] result<void> admit(const caller& who, const model::operation& what) const;
  /// Whether `who` may have what was meant for one who had proved `shown`: he has all of those scopes, by themselves or
  /// included in others, or no proof, which is never asked for scopes.
  [[nodiscard]] bool has_scopes_of(const caller& who, const proof* shown) const;
  /// All that the operation needs, each once.
  [[nodiscard]] std::vector<std::string> needed_for(const model::operation& what) const;
  /// Positions of the rules with URIs that are about a canonical one.
  [[nodiscard]] std::vector<std::size_t> rules_about(std::string_view asked) const;
  /// What the caller may see and read: by the access rules, by the scopes that it has, and by the view it comes with. Null:
  /// everything.
  [[nodiscard]] std::shared_ptr<const view> view_of(const caller& who) const;
  /// Whether `through` (null: everything) shows a canonical URI, and all others that a mounted server may take for the same:
  /// what came through a mount is compared here as it was written, while the other server reads it as it likes. A resource is
  /// hidden with all its parts: a rule about a file holds for its lines and fragments too.
  [[nodiscard]] bool may_see(const view* through, std::string_view uri) const;
  /// The same for reading it.
  [[nodiscard]] bool may_read(const view* through, std::string_view uri) const;
  /// The same of what has this entry, at which views may look.
  [[nodiscard]] bool may_see(const view* through, const resource& entry) const;
  [[nodiscard]] bool may_read(const view* through, const resource& entry) const;
  /// How else a mounted server may write a canonical URI; nothing when there are too many ways to compare.
  [[nodiscard]] std::optional<std::vector<std::string>> other_spellings(std::string_view uri) const;

  /// What access rules grant of tools and prompts; null: everything.
  [[nodiscard]] std::shared_ptr<const access::decisions> decisions_of(const caller& who) const {
    return access_ ? access_->decisions_of(who) : nullptr;
  }
  /// Whether callers may differ in what they see or read.
  [[nodiscard]] bool tells_callers_apart() const noexcept { return access_ != nullptr || scoped_ != nullptr; }
  /// The access rules; null when there are none.
  [[nodiscard]] const access::judge* judge() const noexcept { return access_.get(); }
  /// The scopes that every request needs.
  [[nodiscard]] const std::vector<std::string>& always() const noexcept { return rules_.always; }
  /// Every scope that a rule names or that includes others, once: of use to whoever asks an authorization server for some.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  using scopes = std::vector<std::string>;

  scope_rules rules_;
  std::vector<named_uris> named_;                          // by rule
  std::vector<std::size_t> about_reading_;                 // of `rules_`
  std::shared_ptr<const scoped_views> scoped_;             // null: no rule is about reading
  std::map<std::string, std::set<std::string>> included_;  // by scope, with what the included ones include
  std::shared_ptr<const access::judge> access_;            // null: no access rules
  std::vector<std::string> mounts_;
};

}  // namespace hondana::gate
