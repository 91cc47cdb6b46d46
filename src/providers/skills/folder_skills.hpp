/// The provider that serves folders of skills.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "providers/skills/shelf.hpp"

namespace hondana::skills {

/// Serves the skills in some folders. Everything it lists is as the folders are at that moment. Threads: any.
class folder_skills final : public provider {
 public:
  /// `prefix`: a path, such as `acme/billing`, that all skills are served below; may be empty. Errors: invalid_argument for a
  /// prefix that cannot be part of a URI, source_unavailable for a folder that cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<folder_skills>> open(const std::string& prefix,
                                                                   const std::vector<std::string>& paths,
                                                                   std::function<void(std::string_view)> log);

  [[nodiscard]] std::string name() const override { return "skills"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {claim_}; }
  [[nodiscard]] scheme_documentation documentation() const override { return skills::describe(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] bool has_skills() const noexcept override { return true; }
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  /// Folders are not watched: a change is told when somebody's question finds it.
  void watch(std::shared_ptr<change_listener> to) override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::health health() const override;

 private:
  folder_skills(const std::string& prefix, std::vector<folder> folders, std::function<void(std::string_view)> log);

  std::string claim_;
  shelf shelf_;
};

}  // namespace hondana::skills
