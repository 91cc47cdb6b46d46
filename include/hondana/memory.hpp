/// A provider over entries held in memory, for embedders and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Serves entries an application adds, each with bytes or a function that makes them.
///
/// Threads: any; entries may be added and removed while the server runs.
class memory_provider : public provider {
 public:
  using maker = std::function<result<reading>(const read_request&)>;
  using completer = std::function<result<complete_result>(const complete_request&)>;

  /// `name` appears in errors and logs; `prefix` is the canonical URI prefix everything lies below, e.g. "memo:///".
  memory_provider(std::string name, std::string prefix);
  ~memory_provider() override;

  /// Adds or replaces an entry that is read by calling `make` on a pool thread.
  /// Errors: invalid_argument for a URI that is not below the prefix, or an empty name.
  result<void> add(resource entry, maker make);
  /// Adds or replaces an entry with fixed content: text when it is well-formed UTF-8 without NUL, else a blob.
  result<void> add(resource entry, std::string bytes);
  /// Adds a template whose URIs are read by `make` and whose variables are completed by `complete`; without
  /// it, from the entries that the template fits.
  /// Errors: invalid_argument for a template that does not compile. Call before the server starts.
  result<void> add_template(resource_template entry, maker make, completer complete = {});
  /// Removes an entry; false when there was none.
  bool remove(const std::string& uri);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  /// A reading that `make` gave no version has that of its entry.
  [[nodiscard]] result<reading> read(const read_request& request) override;
  /// An entry whose media type is `inode/directory` is a folder; its children are the entries one segment below its URI.
  [[nodiscard]] bool lists_folders() const noexcept override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Tells of every `add` and `remove`; what a maker gives anew, only the application knows (`server::resource_updated`).
  void watch(std::shared_ptr<change_listener> to) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
