/// The provider that serves folders of skills.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_stamp.hpp"
#include "os/watch/folder_watcher.hpp"
#include "sources/skills/skill_folder.hpp"

namespace hondana::skills {

/// Serves the skills in some folders: folders with a SKILL.md, and their files. Lists show the folders as they are at the time
/// of the call. Threads: any.
class folder_skills_provider final : public provider,
                                     public entry_source,
                                     public folder_source,
                                     public skill_source,
                                     public inventory_source,
                                     public change_source,
                                     public watch_source,
                                     public list_watch_source,
                                     public health_source {
 public:
  /// `prefix`: a path such as `acme/billing` that all URIs begin with; may be empty. `paths`: of the folders. `log`: receives
  /// lines for people; may be empty. `watches`: whether to watch the folders; if not, changes are reported only when a call
  /// finds them. `masks`: whether to mask secrets. `own_files`: as for `folder::open`.
  /// Errors: invalid_argument for no folders or a prefix that cannot be part of a URI, source_unavailable for a folder that
  /// cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<folder_skills_provider>> open(const std::string& prefix,
                                                                            const std::vector<std::string>& paths,
                                                                            std::function<void(std::string_view)> log,
                                                                            bool watches = true, bool masks = true,
                                                                            const std::vector<std::string>& own_files = {});
  ~folder_skills_provider() override;

  [[nodiscard]] std::string name() const override { return "skills"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {uri_prefix_}; }
  [[nodiscard]] scheme_documentation documentation() const override { return skills::describe_scheme(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  /// Scans the folders only if the cached entry may be out of date, or there is none.
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string&) override {}  // the folders stay watched
  void watch_list() override;
  void unwatch_list() override {}  // the folders stay watched
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  folder_skills_provider(const std::string& prefix, std::vector<folder> folders, std::function<void(std::string_view)> log,
                         bool watches, bool masks);
  /// See `collection_cache::refresh`. Starts the watcher first, if there is a listener.
  [[nodiscard]] result<std::shared_ptr<const collection>> refresh(const request_context& request);
  /// Whether a URI is in the collection, or something may exist on disk at its path.
  [[nodiscard]] bool exists(const collection& collection, const std::string& uri) const;
  /// Whether an entry of the collection is current: a file by its digest, a folder if the last scan is under 100 ms old.
  [[nodiscard]] bool is_current(const collection& collection, const resource& entry) const;
  /// The digest of a file of the collection that has this stamp now. Scans the folders if it is unknown. Empty if the stamp is
  /// racy (`disk::is_racy`) or has changed.
  [[nodiscard]] std::string digest_of(const std::string& path, const disk::stamp& stamp, const request_context& request);

  std::string uri_prefix_;
  std::shared_ptr<collection_cache> cache_;         // shared with the watcher thread, which may be stuck and outlive this
  std::unique_ptr<watch::folder_watcher> watcher_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::skills
