/// Access filters from access rules: which rules apply to a caller, and what they permit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/provider.hpp>

#include "server/access/rules.hpp"

namespace hondana::access {

using rule_list = std::vector<rule>;

/// The rules that apply to one caller, in their order. Immutable; threads: any.
class decisions final : public view {
 public:
  /// `which`: positions in `all`, ascending.
  decisions(std::shared_ptr<const rule_list> all, const std::vector<std::size_t>& which);

  /// Equal for equal rules, in every process.
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return most_of(uri) >= grant::list; }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return most_of(uri) >= grant::read; }
  [[nodiscard]] bool looks_at_entries() const noexcept override { return looks_at_entries_; }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override { return of(entry) >= grant::list; }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return of(entry) >= grant::read; }
  [[nodiscard]] bool may_see_some(const uri_template& of) const override;

  /// What is granted for a resource with this entry.
  [[nodiscard]] grant of(const resource& entry) const;
  [[nodiscard]] grant of_tool(std::string_view name, bool is_built_in) const;
  [[nodiscard]] grant of_prompt(std::string_view name) const;

 private:
  /// The most that is granted for a URI with any entry.
  [[nodiscard]] grant most_of(std::string_view uri) const;
  [[nodiscard]] grant looked_up(std::string_view asked) const;
  /// Both require a URI in normal form.
  [[nodiscard]] grant most_of_one(std::string_view uri) const;
  [[nodiscard]] grant of_one(std::string_view uri, const resource& entry) const;

  std::shared_ptr<const rule_list> all_;
  std::vector<const rule*> last_first_;
  std::uint64_t id_ = 0;
  bool looks_at_entries_ = false;
};

/// Permits what both of two access filters permit.
class narrowed final : public view {
 public:
  narrowed(std::shared_ptr<const view> one, std::shared_ptr<const view> other);

  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return one_->may_see(uri) && other_->may_see(uri); }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return one_->may_read(uri) && other_->may_read(uri); }
  [[nodiscard]] bool looks_at_entries() const noexcept override {
    return one_->looks_at_entries() || other_->looks_at_entries();
  }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override {
    return one_->may_see_entry(entry) && other_->may_see_entry(entry);
  }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override {
    return one_->may_read_entry(entry) && other_->may_read_entry(entry);
  }
  [[nodiscard]] bool may_see_some(const uri_template& of) const override {
    return one_->may_see_some(of) && other_->may_see_some(of);
  }

 private:
  std::shared_ptr<const view> one_;
  std::shared_ptr<const view> other_;
  std::uint64_t id_;
};

/// Whether a caller's proof satisfies a scope.
using scope_check = std::function<bool(const proof& given, const std::string& scope)>;

/// The result of one rule for one caller and resource.
struct finding {
  std::size_t number = 0;
  grant gives = grant::none;
  bool is_about_caller = false;
  bool is_about_uri = false;
  bool is_about_entry = false;  ///< Also true without conditions on entries.
  bool decides = false;
};

/// All rules, and the cached access filters of recent callers. Threads: any.
class judge {
 public:
  /// Errors: as `check`.
  [[nodiscard]] static result<std::shared_ptr<const judge>> make(const access_rules& rules, scope_check has_scope);

  /// Whether there are no rules, so that every caller may do everything.
  [[nodiscard]] bool is_open() const noexcept { return rules_->empty(); }
  /// The caller's access filter, from the rules and the filter that the caller already has. Callers with equal decisions share
  /// one object.
  [[nodiscard]] std::shared_ptr<const view> view_of(const caller& who) const;
  /// The same from the rules alone.
  [[nodiscard]] std::shared_ptr<const decisions> decisions_of(const caller& who) const;
  /// The result of every rule, in order, for explanations.
  [[nodiscard]] std::vector<finding> explain(const caller& who, const resource& entry) const;

 private:
  struct views {
    std::shared_ptr<const decisions> alone;
    /// Combinations with the callers' own access filters, which they keep alive.
    std::unordered_map<const view*, std::shared_ptr<const view>> with;
  };
  /// The cached filters of callers whose sets of rules have the same hash.
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
