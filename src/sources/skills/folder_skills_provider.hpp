/// The provider that serves folders of skills.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_stamp.hpp"
#include "os/watch/folder_watcher.hpp"
#include "sources/skills/skill_folder.hpp"

namespace hondana::skills {

/// Serves the skills in some folders. Everything it lists is as the folders are at that moment. Threads: any.
class folder_skills final : public provider {
 public:
  /// `prefix`: a path, such as `acme/billing`, that all skills are served below; may be empty. Errors: invalid_argument for a
  /// prefix that cannot be part of a URI, source_unavailable for a folder that cannot be opened. Unless `watches`, changes are
  /// told when somebody's question finds them. `masks`: secrets in files are masked. `kept_back`: as `folder::open` has it.
  [[nodiscard]] static result<std::shared_ptr<folder_skills>> open(const std::string& prefix,
                                                                   const std::vector<std::string>& paths,
                                                                   std::function<void(std::string_view)> log,
                                                                   bool watches = true, bool masks = true,
                                                                   const std::vector<std::string>& kept_back = {});
  ~folder_skills() override;

  [[nodiscard]] std::string name() const override { return "skills"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {claim_}; }
  [[nodiscard]] scheme_documentation documentation() const override { return skills::describe(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  /// Walks the folders only when what is known may have changed.
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] bool has_skills() const noexcept override { return true; }
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void attach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

 private:
  folder_skills(const std::string& prefix, std::vector<folder> folders, std::function<void(std::string_view)> log, bool watches,
                bool masks);
  /// The collection as the folders are now; changes are heard from then on.
  [[nodiscard]] result<std::shared_ptr<const collection>> refreshed(const call& by);
  /// Whether a URI is known, or something is on disk where it would be.
  [[nodiscard]] bool is_there(const collection& known, const std::string& uri) const;
  [[nodiscard]] bool is_as_known(const collection& known, const resource& entry) const;
  /// The digest of a file in this state; empty when it may change without a trace, or is changing.
  [[nodiscard]] std::string digest_of(const std::string& path, const disk::stamp& state, const call& by);

  std::string claim_;
  std::shared_ptr<shelf> shelf_;              // shared with a thread that may be stuck
  std::unique_ptr<watch::lookout> watching_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::skills
