/// A provider with entries in memory, for applications and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Serves entries that an application adds, each with fixed content or with a function that makes it.
///
/// Threads: any. Entries may be added and removed while the server runs.
class memory_provider : public provider,
                        public entry_source,
                        public folder_source,
                        public template_source,
                        public completion_source,
                        public change_source {
 public:
  /// Makes the content of a resource. Called on a pool thread, several calls at once.
  using read_handler = std::function<result<read_result>(const read_request&)>;
  /// Completes a template variable. Called on a pool thread, several calls at once.
  using complete_handler = std::function<result<complete_result>(const complete_request&)>;

  /// `name` appears in errors and logs. `prefix` is the canonical URI prefix of all entries, such as "memo:///".
  memory_provider(std::string name, std::string prefix);
  ~memory_provider() override;

  /// Adds or replaces an entry whose content `handler` makes, and notifies clients. Errors: invalid_argument for a URI that is
  /// invalid or not below the prefix, or an empty name or `handler`.
  [[nodiscard]] result<void> add(resource entry, read_handler handler);
  /// Adds or replaces an entry with fixed content, and notifies clients. `bytes` are a text if they are well-formed UTF-8
  /// without NUL, otherwise a blob. Errors: invalid_argument for a URI that is invalid or not below the prefix, or an empty
  /// name.
  [[nodiscard]] result<void> add(resource entry, std::string bytes);
  /// Adds or replaces a template; call it before the server starts. `handler` reads the URIs that match it and are not added as
  /// entries. `completer` completes its variables; empty: by the URIs of entries that match. Errors: invalid_argument for a
  /// template that does not compile, or an empty name or `handler`.
  [[nodiscard]] result<void> add_template(resource_template entry, read_handler handler, complete_handler completer = {});
  /// Removes an entry and notifies clients. Returns false if there was none.
  bool remove(const std::string& uri);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  /// If the `read_handler` of an entry returns no version, the result gets that of the entry.
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  /// Entries with the media type `inode/directory` are folders; their children are the entries one segment below.
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// `listener` is notified of every `add` and `remove`. When a `read_handler` has new content, the application must call
  /// `server::notify_resource_updated`.
  void set_listener(std::shared_ptr<change_listener> listener) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
