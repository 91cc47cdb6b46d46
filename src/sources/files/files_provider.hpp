/// The provider of `file://` resources.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/files/file_content.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"
#include "sources/files/watcher.hpp"

namespace hondana::files {

/// Serves one or more folders. Reads use the file system as it is; lists come from a background walk.
///
/// Threads: any. Starts no thread before the first list, completion, repeated read, or watched file or list.
class files_provider final : public provider,
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
  /// Opens every root. If a root is deleted or moved and created again, the provider opens it again.
  /// Errors: source_unavailable for a root that cannot be served. invalid_argument for invalid options, and for roots that are
  /// equal or nested, naming both.
  [[nodiscard]] static result<std::shared_ptr<files_provider>> open(options options);

  /// Starts a new walk of the roots, for instance on a request to reload. Has no effect before the first walk.
  void refresh();

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  /// For a part of a file: the entry of the file, with the URI of the part and without a size.
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visit) override;
  /// Reports changes of lists and watched files: by inotify, or by polling every `options::refresh_interval` where inotify is
  /// not possible.
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override {}  // reporting does not stop
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  files_provider(options options, root_list roots);

  /// The root that contains a canonical URI, after a check whether its folder was replaced. Null if no root does.
  [[nodiscard]] std::shared_ptr<const served_root> find_root(std::string_view uri) const;
  struct target;
  /// Resolves `full_uri` (canonical) for a caller. `is_read`: requires the right to read, not only to see. Errors: as `read`,
  /// which show `requested_uri`.
  [[nodiscard]] result<target> resolve_target(const std::string& full_uri, const std::string& requested_uri,
                                              const request_context& context, bool is_read) const;
  /// The version that a read would return, for a target whose entry has none. For a large file that has just changed, a
  /// temporary version that no read returns.
  [[nodiscard]] result<std::string> content_version(const target& target, const describe_request& request);
  [[nodiscard]] result<read_result> read_file(const served_root& root, const disk::resolved_path& resolved,
                                              const read_request& request, const std::optional<range>& part);

  options options_;
  root_list roots_;
  read_resources resources_;
  // Each calls the other one, as long as that exists.
  std::shared_ptr<indexer> indexer_;
  std::shared_ptr<watcher> watcher_;
};

/// Documents the `file` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::files
