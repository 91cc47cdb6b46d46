/// Decides whether a caller may do an operation, before anything else looks at it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/scopes.hpp>
#include <hondana/uri.hpp>

#include "model/operation.hpp"

namespace hondana::gate {

/// The place where access rules, rates and the audit record stand. Immutable. Threads: any.
class gate {
 public:
  /// Without rules: passes everything.
  gate() = default;
  /// Errors: as `check`.
  [[nodiscard]] static result<std::shared_ptr<const gate>> make(scope_rules rules);

  /// Errors: scope_missing, with all scopes that the operation needs, when what the caller has proved lacks one of them.
  /// Callers without a proof pass.
  [[nodiscard]] result<void> admit(const caller& who, const model::operation& what) const;
  /// The scopes that every request needs.
  [[nodiscard]] const std::vector<std::string>& always() const noexcept { return rules_.always; }
  /// Every scope that a rule names or that includes others, once: of use to whoever asks an authorization server for some.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  using scopes = std::vector<std::string>;

  [[nodiscard]] scopes needed_for(const model::operation& what) const;
  [[nodiscard]] bool has(const proof& given, const std::string& scope) const;

  scope_rules rules_;
  std::vector<std::vector<uri_template>> templates_;       // by rule: those of its `uris` that are templates
  std::map<std::string, std::set<std::string>> included_;  // by scope, with what the included ones include
};

}  // namespace hondana::gate
