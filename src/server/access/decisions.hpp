/// What one set of rules lets a caller list and read, as a view.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
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

}  // namespace hondana::access
