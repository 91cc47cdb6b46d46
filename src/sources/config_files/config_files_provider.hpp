/// The provider of one set of configuration files.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "sources/config_files/config_uri.hpp"
#include "sources/config_files/options.hpp"
#include "sources/config_files/watched_set.hpp"

namespace hondana::config_files {

/// Documents the `config` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

/// Serves one set, `config://SET`. Lists and reads show the files as they are now. Threads: any.
class config_files_provider final : public provider,
                                    public entry_source,
                                    public folder_source,
                                    public template_source,
                                    public completion_source,
                                    public inventory_source,
                                    public change_source,
                                    public watch_source,
                                    public list_watch_source,
                                    public health_source {
 public:
  /// Errors: invalid_argument for inconsistent settings; source_unavailable for paths that cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<config_files_provider>> open(options options);
  ~config_files_provider() override;

  [[nodiscard]] std::string name() const override { return "config"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {uri_prefix(set_->name())}; }
  [[nodiscard]] scheme_documentation documentation() const override { return config_files::describe_scheme(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visit) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override {}  // the folders stay watched
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override { return set_->health(); }

 private:
  config_files_provider(std::shared_ptr<watched_set> set, const options& options);
  /// See `watched_set::refresh`. Starts the watcher first, if there is a listener.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> refresh(const request_context& context);
  /// The URIs of the visible children of a folder, one per line. Errors: as `children`; response_too_large.
  [[nodiscard]] result<read_result> read_folder(const read_request& request);
  /// All values that `complete` chooses from.
  [[nodiscard]] result<std::vector<std::string>> complete_values(const complete_request& request);
  [[nodiscard]] std::vector<std::string> visible_layer_names(const caller_info& caller) const;

  const std::shared_ptr<watched_set> set_;  // shared with a thread that may be stuck
  const bool masks_secrets_;
  std::unique_ptr<watch::folder_watcher> watcher_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::config_files
