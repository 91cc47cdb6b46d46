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

/// Serves the skills in some folders. Lists show the folders as they are at the time of the call. Threads: any.
class folder_skills final : public provider {
 public:
  /// `prefix`: a path such as `acme/billing` below which all skills are served; may be empty. `watches`: without it, changes
  /// are reported only when a call happens to find them. `masks`: secrets in files are masked. `kept_back`: as for
  /// `folder::open`.
  /// Errors: invalid_argument for no folders or a prefix that cannot be part of a URI, source_unavailable for a folder that
  /// cannot be opened.
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
  /// Scans the folders only when the cached entry may be out of date.
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
  /// The collection that matches the folders now. Starts the watcher first, if there is a listener.
  [[nodiscard]] result<std::shared_ptr<const collection>> refreshed(const call& by);
  /// Whether a URI is in the collection, or something exists on disk at its path.
  [[nodiscard]] bool is_there(const collection& known, const std::string& uri) const;
  /// Whether a cached entry is still current: a file by its digest, a folder by the age of the last scan.
  [[nodiscard]] bool is_as_known(const collection& known, const resource& entry) const;
  /// The digest of a file with this stamp. Empty if the file is changing, or may change without a new stamp.
  [[nodiscard]] std::string digest_of(const std::string& path, const disk::stamp& state, const call& by);

  std::string claim_;
  std::shared_ptr<shelf> shelf_;              // shared with the watcher thread, which may be stuck and outlive this
  std::unique_ptr<watch::lookout> watching_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::skills
