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

/// All access rules of a configuration, in their order.
using rule_list = std::vector<rule>;

/// The rules that apply to one caller, in their order. The last rule that matches decides; without one, nothing is granted.
/// Immutable; threads: any.
class rule_filter final : public access_filter {
 public:
  /// `applicable`: positions in `rules` of the rules that apply to the caller, ascending.
  rule_filter(std::shared_ptr<const rule_list> rules, const std::vector<std::size_t>& applicable);

  /// Equal for equal rules, in every process.
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return max_level(uri) >= access_level::list; }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return max_level(uri) >= access_level::read; }
  [[nodiscard]] bool uses_entries() const noexcept override { return has_entry_conditions_; }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override { return level_of(entry) >= access_level::list; }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return level_of(entry) >= access_level::read; }
  [[nodiscard]] bool may_see_any(const uri_template& compiled) const override;

  /// What is granted for the resource with this entry.
  [[nodiscard]] access_level level_of(const resource& entry) const;
  /// What is granted for a tool. A built-in tool can be called if no rule matches it.
  [[nodiscard]] access_level level_of_tool(std::string_view name, bool is_built_in) const;
  /// What is granted for a prompt.
  [[nodiscard]] access_level level_of_prompt(std::string_view name) const;

 private:
  /// The most that is granted for a URI, with any entry; cached.
  [[nodiscard]] access_level max_level(std::string_view uri) const;
  /// As `max_level`, without the cache.
  [[nodiscard]] access_level find_max_level(std::string_view raw_uri) const;
  /// As `max_level`, for a URI in normal form, regardless of the resource that it is a part of.
  [[nodiscard]] access_level max_level_normalized(std::string_view uri) const;
  /// What is granted for a URI in normal form with this entry, regardless of the resource that it is a part of.
  [[nodiscard]] access_level level_normalized(std::string_view uri, const resource& entry) const;

  std::shared_ptr<const rule_list> rules_;
  std::vector<const rule*> by_precedence_;  // the last rule first
  std::uint64_t id_ = 0;
  bool has_entry_conditions_ = false;
};

/// Permits what both of two access filters permit.
class combined_filter final : public access_filter {
 public:
  combined_filter(std::shared_ptr<const access_filter> first, std::shared_ptr<const access_filter> second);

  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return first_->may_see(uri) && second_->may_see(uri); }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return first_->may_read(uri) && second_->may_read(uri); }
  [[nodiscard]] bool uses_entries() const noexcept override { return first_->uses_entries() || second_->uses_entries(); }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override {
    return first_->may_see_entry(entry) && second_->may_see_entry(entry);
  }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override {
    return first_->may_read_entry(entry) && second_->may_read_entry(entry);
  }
  [[nodiscard]] bool may_see_any(const uri_template& compiled) const override {
    return first_->may_see_any(compiled) && second_->may_see_any(compiled);
  }

 private:
  std::shared_ptr<const access_filter> first_;
  std::shared_ptr<const access_filter> second_;
  std::uint64_t id_;
};

/// Whether `auth_info` grants `scope`, directly or by a scope that includes it.
using scope_check = std::function<bool(const auth_info& auth_info, const std::string& scope)>;

/// The result of one rule for one caller and resource.
struct rule_evaluation {
  std::size_t number = 0;                   ///< Number of the rule, from 1.
  access_level level = access_level::none;  ///< What the rule grants.
  bool matches_caller = false;
  bool matches_uri = false;
  bool matches_entry = false;  ///< Also true if the rule has no conditions on entries.
  bool decides = false;        ///< This is the last rule that matches all three.
};

/// All access rules, and the cached access filters of recent callers. Threads: any.
class policy {
 public:
  /// Compiles the rules. Errors: as `validate_access_rules`.
  [[nodiscard]] static result<std::shared_ptr<const policy>> make(const access_rules& rules, scope_check has_scope);

  /// Whether there are no rules, so that every caller may do everything.
  [[nodiscard]] bool is_unrestricted() const noexcept { return rules_->empty(); }
  /// The caller's access filter, from the rules and the filter in `caller`. Null: everything. Callers with equal decisions
  /// usually share one object.
  [[nodiscard]] std::shared_ptr<const access_filter> filter_of(const caller_info& caller) const;
  /// The caller's access filter, from the rules alone; never null. Precondition: not `is_unrestricted`, because without rules
  /// it would grant nothing.
  [[nodiscard]] std::shared_ptr<const rule_filter> rule_filter_of(const caller_info& caller) const;
  /// The results of all rules, in their order, for a caller and the resource with this entry.
  [[nodiscard]] std::vector<rule_evaluation> explain(const caller_info& caller, const resource& entry) const;

 private:
  /// The access filters of callers to which the same rules apply.
  struct cached_filters {
    std::shared_ptr<const rule_filter> rules_only;
    /// Combinations with the access filters in `caller_info`, which they keep alive.
    std::unordered_map<const access_filter*, std::shared_ptr<const access_filter>> combined;
  };
  /// One of several parts of the cache, each with a lock.
  struct cache_shard {
    std::mutex mutex;
    std::unordered_map<std::string, cached_filters> by_rule_set;  // the key has one bit for each rule: whether it applies
  };

  policy(std::shared_ptr<const rule_list> rules, std::string group_claim, scope_check has_scope)
      : rules_(std::move(rules)), group_claim_(std::move(group_claim)), has_scope_(std::move(has_scope)) {}
  [[nodiscard]] bool applies_to(const rule& rule, const caller_info& caller, const std::vector<std::string_view>& groups) const;
  [[nodiscard]] std::vector<std::string_view> groups_of(const caller_info& caller) const;
  template <class Action>
  auto with_filters(const caller_info& caller, Action&& action) const;

  std::shared_ptr<const rule_list> rules_;
  std::string group_claim_;
  scope_check has_scope_;
  mutable std::array<cache_shard, 16> shards_;
};

}  // namespace hondana::access
