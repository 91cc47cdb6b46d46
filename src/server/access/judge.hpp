/// Finds the view of a caller.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/provider.hpp>

#include "server/access/decisions.hpp"

namespace hondana::access {

/// Whether what a caller has proved is good for a scope.
using scope_check = std::function<bool(const proof& given, const std::string& scope)>;

/// What one rule says about one caller and resource.
struct finding {
  std::size_t number = 0;
  grant gives = grant::none;
  bool is_about_caller = false;
  bool is_about_uri = false;
  bool is_about_entry = false;  ///< Also true where it has no conditions on entries.
  bool decides = false;
};

/// All rules, and the views of those who asked last. Threads: any.
class judge {
 public:
  /// Errors: as `check`.
  [[nodiscard]] static result<std::shared_ptr<const judge>> make(const access_rules& rules, scope_check has_scope);

  /// Whether there are no rules, so that everybody may everything.
  [[nodiscard]] bool is_open() const noexcept { return rules_->empty(); }
  /// What the caller may see: by the rules, and by the view that the caller has already. Callers with equal decisions share
  /// one.
  [[nodiscard]] std::shared_ptr<const view> view_of(const caller& who) const;
  /// The same by the rules alone.
  [[nodiscard]] std::shared_ptr<const decisions> decisions_of(const caller& who) const;
  /// What every rule says, in their order.
  [[nodiscard]] std::vector<finding> explain(const caller& who, const resource& entry) const;

 private:
  struct views {
    std::shared_ptr<const decisions> alone;
    /// With views that callers have from elsewhere, which these keep alive.
    std::unordered_map<const view*, std::shared_ptr<const view>> with;
  };
  /// Of the callers whose rules have one hash.
  struct shelf {
    std::mutex mutex;
    std::unordered_map<std::string, views> by_rules;
  };

  judge(std::shared_ptr<const rule_list> rules, std::string group_claim, scope_check has_scope)
      : rules_(std::move(rules)), group_claim_(std::move(group_claim)), has_scope_(std::move(has_scope)) {}
  [[nodiscard]] bool is_about(const rule& one, const caller& who, const std::vector<std::string_view>& groups) const;
  [[nodiscard]] std::vector<std::string_view> groups_of(const caller& who) const;
  template <class Take>
  auto take_views(const caller& who, Take&& take) const;

  std::shared_ptr<const rule_list> rules_;
  std::string group_claim_;
  scope_check has_scope_;
  mutable std::array<shelf, 16> shelves_;
};

}  // namespace hondana::access
