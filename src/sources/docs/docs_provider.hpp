/// The provider of one set of documents.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "protocol/model/watched_aliases.hpp"
#include "sources/docs/document_set.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {

/// Serves a folder of documents as text. Lists show the folder as it is now. Titles of PDF and Office files need rendering:
/// while there is a change listener, a background thread renders them, and then notifies it. Threads: any.
class docs_provider final : public provider,
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
  /// Errors: as `document_set::open`.
  [[nodiscard]] static result<std::shared_ptr<docs_provider>> open(set_options options);
  ~docs_provider() override;

  [[nodiscard]] std::string name() const override { return "docs-" + set_->set_name(); }
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override {}  // the folders stay watched
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override { return set_->health(); }

 private:
  /// The result of a read, of any kind of resource.
  struct read_outcome {
    std::vector<resource_content> contents{};
    std::string version{};
    std::string kind{};    ///< As in `resource::kind`.
    bool is_racy = false;  ///< As in `read_result::is_racy`.
  };
  explicit docs_provider(std::shared_ptr<document_set> set);
  /// For `hondana check`: "; " and why the document cannot be rendered. Empty: it can be, or need not be.
  [[nodiscard]] std::string unserved_text_note(const document& document) const;
  /// See `document_set::refresh`. Starts the watcher first, if there is a listener.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> refresh(const request_context& request);
  /// The newest snapshot, refreshed if it may be out of date: not watched, and over a second old.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> current(const request_context& request);
  /// Finds the document that an address names. Errors: resource_not_found; part_not_found for another spelling of its URI,
  /// which only callers without access rules may use.
  [[nodiscard]] result<const document*> find(const snapshot& snapshot, const address& address, const caller_info& caller) const;
  /// Whether the path of an address names a folder or the set, in a spelling that the caller may use.
  [[nodiscard]] static bool is_folder(const snapshot& snapshot, const address& address, const caller_info& caller);
  [[nodiscard]] result<read_outcome> read_resource(const snapshot& snapshot, const address& address,
                                                   const read_request& request);
  [[nodiscard]] result<read_outcome> read_document(const snapshot& snapshot, const document& document, const address& address,
                                                   const read_request& request);
  [[nodiscard]] result<read_outcome> read_original(const document& document, const read_request& request);
  [[nodiscard]] result<read_outcome> read_folder(const snapshot& snapshot, const address& address,
                                                 const read_request& request) const;
  /// Adds the original file as a second content, unless it equals the text. If it is too large or withheld, adds only metadata
  /// about it.
  void add_original(read_outcome& outcome, const document& document, const std::shared_ptr<const document_text>& text,
                    const read_request& request);
  [[nodiscard]] result<complete_result> complete_paths(const snapshot& snapshot, const complete_request& request) const;
  [[nodiscard]] result<complete_result> complete_sections(const snapshot& snapshot, const complete_request& request);

  const std::shared_ptr<document_set> set_;  // shared with threads that may be stuck
  const std::shared_ptr<model::watched_aliases> aliases_;
  std::unique_ptr<background_renderer> background_renderer_;  // null: the set has no renderer
  std::unique_ptr<watch::folder_watcher> watcher_;            // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::docs
