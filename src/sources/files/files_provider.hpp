/// The provider of `file://` resources.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/files/file_content.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"
#include "sources/files/watcher.hpp"

namespace hondana::files {

/// Serves one or more folders. Reads use the file system as it is; lists come from a background walk.
///
/// Threads: any. No thread starts before the first list or the first watched file or list.
class files_provider final : public provider {
 public:
  /// Opens every root. A root that is deleted or moved, and created again, is opened again.
  /// Errors: source_unavailable for a root that cannot be served. invalid_argument for invalid options, and for roots that are
  /// equal or nested, naming both.
  [[nodiscard]] static result<std::shared_ptr<files_provider>> open(options from);

  /// Starts a new walk of the roots, for instance on a request to reload.
  void refresh();

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  /// For a part of a file: the entry of the file, with the URI of the part and without a size.
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  /// Watches the lists and every file: by inotify, or by polling every `options::refresh_after` where inotify is not possible.
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

 private:
  files_provider(options from, root_list roots);

  /// The root that contains a canonical URI; null if none does.
  [[nodiscard]] std::shared_ptr<const root> root_of(std::string_view uri) const;
  struct target;
  /// Resolves a canonical URI for a caller. Fails as a read does if it names nothing that has content.
  [[nodiscard]] result<target> target_of(const std::string& uri, const std::string& asked_uri, const call& by,
                                         bool is_read) const;
  [[nodiscard]] result<std::string> version_of_content(const target& what, const describe_request& request);
  [[nodiscard]] result<reading> read_file(const root& of, const located& what, const read_request& request,
                                          const std::optional<range>& part);

  options options_;
  root_list roots_;
  reading_room room_;
  // Each notifies the other one, as long as that exists.
  std::shared_ptr<indexer> indexer_;
  std::shared_ptr<watching> watching_;
};

/// Documents the `file` scheme.
[[nodiscard]] scheme_documentation describe();

}  // namespace hondana::files
