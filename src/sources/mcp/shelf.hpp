/// What the other server had when it was asked last, as it is served here.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/skill.hpp>
#include <hondana/snapshot.hpp>

#include "sources/mcp/naming.hpp"

namespace hondana::mcp {

/// Lists as the other server gave them, made fit.
struct gathered {
  std::vector<resource> entries{};
  std::vector<resource_template> templates{};
  std::vector<skill> skills{};
  bool has_more_entries = false;  ///< Not all were asked for.
  bool has_more_templates = false;
  bool has_more_skills = false;
  std::chrono::milliseconds ttl{0};  ///< For how long it thinks they stay right; 0: it does not say.
};

/// An immutable set of entries, templates and skills under our URIs. Threads: any.
class shelf {
 public:
  shelf(gathered from, const naming& names, const rules& which);

  [[nodiscard]] const entry_snapshot& entries() const noexcept { return entries_; }
  /// The entry that is listed under one of our URIs, or under another for whose canonical form there ours stands: who asks by
  /// either means that resource.
  [[nodiscard]] std::optional<resource> entry_of(std::string_view ours) const;
  /// By text.
  [[nodiscard]] const std::vector<resource_template>& templates() const noexcept { return templates_; }
  /// In segment order.
  [[nodiscard]] const std::vector<skill>& skills() const noexcept { return skills_; }
  /// What is not served, and why; the first thousand.
  [[nodiscard]] const std::vector<survey_item>& left_out() const noexcept { return left_out_; }
  [[nodiscard]] std::size_t left_out_count() const noexcept { return left_out_count_; }
  /// How the other server spells one of our URIs that it listed, where that is not what stands behind the prefix.
  [[nodiscard]] std::optional<std::string> spelling_of(std::string_view ours) const;
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  /// For people, when some of it is missing; empty when it is whole.
  [[nodiscard]] const std::string& shortness() const noexcept { return shortness_; }
  /// Whether clients would see no difference.
  [[nodiscard]] bool says_the_same_as(const shelf& other) const;

 private:
  std::vector<resource> adopted(std::vector<resource> theirs, const naming& names, const rules& which);
  void adopt(std::vector<resource_template> theirs, const naming& names, const rules& which);
  void adopt(std::vector<skill> theirs, const naming& names, const rules& which);
  /// Our URI for one of theirs; nothing, and noted, when it is left out.
  std::optional<std::string> take(const std::string& theirs, const std::string& name, const naming& names, const rules& which);
  void leave_out(const std::string& theirs, const std::string& name, const std::string& reason);

  std::unordered_map<std::string, std::string> spellings_;
  std::unordered_map<std::string, std::string> listed_as_;  // by ours for the canonical form of theirs
  std::vector<survey_item> left_out_;
  std::size_t left_out_count_ = 0;
  std::chrono::milliseconds ttl_;
  std::string shortness_;
  entry_snapshot entries_;
  std::vector<resource_template> templates_;
  std::vector<skill> skills_;
};

/// A skill under our URIs, without files that are not served; nothing when one of its URIs cannot be one of ours.
[[nodiscard]] std::optional<skill> adopted(skill theirs, const naming& names, const rules& which);

}  // namespace hondana::mcp
