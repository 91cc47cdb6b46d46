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

/// Serves one or more folders. Reads look at the file system as it is; lists come from a walk behind them.
///
/// Threads: any. No thread is started before the first list, or the first file or list that somebody watches.
class files_provider final : public provider {
 public:
  /// Opens every root; one that is deleted or moved, and made again, is opened again. Errors: source_unavailable for a root
  /// that cannot be served, invalid_argument for options and for roots that are equal or lie within each other, naming both.
  [[nodiscard]] static result<std::shared_ptr<files_provider>> open(options from);

  /// Walks the roots again, for instance when asked to reload.
  void refresh();

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  /// Of a part of a file, the entry of the file under the URI of the part, without a size.
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  /// The lists and every file are watched: by inotify, or by looking every `options::refresh_after` where that cannot be.
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

 private:
  files_provider(options from, root_list roots);

  /// The root a canonical URI belongs to; null when it is of none.
  [[nodiscard]] std::shared_ptr<const root> root_of(std::string_view uri) const;
  struct target;
  /// What `uri` (canonical) names; the failures of reads where it names nothing that has content.
  [[nodiscard]] result<target> target_of(const std::string& uri, const std::string& asked_uri, const call& by,
                                         bool is_read) const;
  [[nodiscard]] result<std::string> version_of_content(const target& what, const describe_request& request);
  [[nodiscard]] result<reading> read_file(const root& of, const located& what, const read_request& request,
                                          const std::optional<range>& part);

  options options_;
  root_list roots_;
  reading_room room_;
  // Each tells the other, as long as it is there.
  std::shared_ptr<indexer> indexer_;
  std::shared_ptr<watching> watching_;
};

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe();

}  // namespace hondana::files
