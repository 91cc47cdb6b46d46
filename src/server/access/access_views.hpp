/// Views by access rules: which rules apply to a caller, and what these let it list and read.
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

/// The rules that are about a caller, wherever the others stand. Immutable; threads: any.
class decisions final : public view {
 public:
  /// `which` are positions in `all`, ascending.
  decisions(std::shared_ptr<const rule_list> all, const std::vector<std::size_t>& which);

  /// Equal for equal rules, in whatever process.
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return most_of(uri) >= grant::list; }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return most_of(uri) >= grant::read; }
  [[nodiscard]] bool looks_at_entries() const noexcept override { return looks_at_entries_; }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override { return of(entry) >= grant::list; }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return of(entry) >= grant::read; }
  [[nodiscard]] bool may_see_some(const uri_template& of) const override;

  /// What is granted of a resource with this entry.
  [[nodiscard]] grant of(const resource& entry) const;
  [[nodiscard]] grant of_tool(std::string_view name, bool is_built_in) const;
  [[nodiscard]] grant of_prompt(std::string_view name) const;

 private:
  /// The most that is granted of a URI, whatever its entry.
  [[nodiscard]] grant most_of(std::string_view uri) const;
  [[nodiscard]] grant looked_up(std::string_view asked) const;
  /// Of a URI in one form, as the next.
  [[nodiscard]] grant most_of_one(std::string_view uri) const;
  [[nodiscard]] grant of_one(std::string_view uri, const resource& entry) const;

  std::shared_ptr<const rule_list> all_;
  std::vector<const rule*> last_first_;
  std::uint64_t id_ = 0;
  bool looks_at_entries_ = false;
};

/// Shows what two views show.
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
