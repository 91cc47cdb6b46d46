/// The provider of one set of documents.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "protocol/model/watched_aliases.hpp"
#include "sources/docs/document_set.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {

/// Serves a folder of documents as text. Lists show the folder as it is now. Titles of PDF and Office files need rendering: a
/// background thread renders them, and a notification follows. Threads: any.
class docs_provider final : public provider {
 public:
  /// Errors: as `library::open`.
  [[nodiscard]] static result<std::shared_ptr<docs_provider>> open(options all);
  ~docs_provider() override;

  [[nodiscard]] std::string name() const override { return "docs-" + library_->set(); }
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::size_t concurrency() const noexcept override { return library_->how().calls; }
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
  [[nodiscard]] hondana::health health() const override { return library_->health(); }

 private:
  /// The result of a read, of any kind of resource.
  struct given {
    std::vector<content> contents{};
    std::string version{};
    std::string kind{};
    bool is_racy = false;
  };
  explicit docs_provider(std::shared_ptr<library> of);
  /// For `hondana check`: why the document cannot be rendered, after a semicolon. Empty: it can.
  [[nodiscard]] std::string why_not_rendered(const document& of) const;
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  /// The newest snapshot, renewed if it may be out of date.
  [[nodiscard]] result<std::shared_ptr<const scene>> current(const call& by);
  /// Finds the document that an address names. Errors: resource_not_found.
  [[nodiscard]] result<const document*> find(const scene& in, const address& what, const caller& who) const;
  /// Whether an address names a folder or the set, in a spelling that the caller may use.
  [[nodiscard]] static bool is_folder(const scene& in, const address& what, const caller& who);
  [[nodiscard]] result<given> give(const scene& in, const address& what, const read_request& request);
  [[nodiscard]] result<given> give_document(const scene& in, const document& of, const address& what,
                                            const read_request& request);
  [[nodiscard]] result<given> give_original(const document& of, const read_request& request);
  [[nodiscard]] result<given> give_folder(const scene& in, const address& what, const read_request& request) const;
  void add_original(given& to, const document& of, const std::shared_ptr<const prose>& text, const read_request& request);
  [[nodiscard]] result<complete_result> complete_paths(const scene& in, const complete_request& request) const;
  [[nodiscard]] result<complete_result> complete_sections(const scene& in, const complete_request& request);

  const std::shared_ptr<library> library_;  // shared with threads that may be stuck
  const std::shared_ptr<model::watched_spellings> spellings_;
  std::unique_ptr<learner> learner_;          // null: nothing is rendered
  std::unique_ptr<watch::lookout> watching_;  // null: not watched
  std::atomic<bool> has_listener_{false};
};

}  // namespace hondana::docs
