/// The provider of one set of configuration files.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "sources/config_files/config_uri.hpp"
#include "sources/config_files/options.hpp"
#include "sources/config_files/watched_set.hpp"

namespace hondana::config_files {

[[nodiscard]] scheme_documentation describe();

/// Serves `config://SET`. Threads: any.
class set_provider final : public provider {
 public:
  /// Errors: invalid_argument for inconsistent settings; source_unavailable for paths that cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<set_provider>> open(options all);
  ~set_provider() override;

  [[nodiscard]] std::string name() const override { return "config"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {claim_of(set_->name())}; }
  [[nodiscard]] scheme_documentation documentation() const override { return config_files::describe(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override { return set_->health(); }

 private:
  set_provider(std::shared_ptr<watched_set> set, const options& all);
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  [[nodiscard]] result<reading> read_folder(const read_request& request);
  [[nodiscard]] result<std::vector<std::string>> values_of(const complete_request& request);
  [[nodiscard]] std::vector<std::string> layer_names(const caller& who) const;

  const std::shared_ptr<watched_set> set_;  // shared with a thread that may be stuck
  const bool redacts_;
  std::unique_ptr<watch::lookout> watching_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::config_files
