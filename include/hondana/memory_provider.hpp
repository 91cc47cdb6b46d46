/// A provider with entries in memory, for applications and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Serves entries that an application adds, each with bytes or with a function that makes its content.
///
/// Threads: any. Entries may be added and removed while the server runs.
class memory_provider : public provider {
 public:
  /// Makes the content of a resource. Called on a pool thread, several calls at once.
  using read_handler = std::function<result<read_result>(const read_request&)>;
  /// Completes a template variable. Called on a pool thread, several calls at once.
  using complete_handler = std::function<result<complete_result>(const complete_request&)>;

  /// `name` appears in errors and logs. `prefix` is the canonical URI prefix of all entries, such as "memo:///".
  memory_provider(std::string name, std::string prefix);
  ~memory_provider() override;

  /// Adds or replaces an entry whose content `handler` returns. Notifies clients.
  /// Errors: invalid_argument for a URI that is not below the prefix, or an empty name.
  result<void> add(resource entry, read_handler handler);
  /// Adds or replaces an entry with fixed content: text if it is well-formed UTF-8 without NUL, otherwise a blob. Errors: as
  /// above.
  result<void> add(resource entry, std::string bytes);
  /// Adds a template. `handler` reads its URIs, and `completer` completes its variables. Without `completer`, values come from
  /// the entries that match the template. Call before the server starts. Errors: invalid_argument for a template that does not
  /// compile.
  result<void> add_template(resource_template entry, read_handler handler, complete_handler completer = {});
  /// Removes an entry and notifies clients. Returns false if there was none.
  bool remove(const std::string& uri);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  /// If `handler` returns no version, the result gets the version of its entry.
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  /// An entry with the media type `inode/directory` is a folder. Its children are the entries one segment below its URI.
  [[nodiscard]] bool has_folders() const noexcept override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Reports every `add` and `remove`. For new content from a `read_handler`, the application must call
  /// `server::notify_resource_updated`.
  void set_listener(std::shared_ptr<change_listener> listener) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
