/// The provider of environment variables.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "sources/env/env_file.hpp"

namespace hondana::env {

/// The options of an `env_provider`.
struct env_options {
  struct file {
    std::string slug;  ///< The file's name in URIs; see `is_slug`.
    std::string path;
  };
  std::vector<std::string> allow;                   ///< Patterns of the variables to serve; see `allow_list`.
  std::optional<std::vector<std::string>> process;  ///< The result of `process_environment`; nullopt: not served.
  std::vector<file> files;
  located::config_format file_format = located::config_format::dotenv;  ///< Of `files`: `dotenv` or `compose_env`.
  bool redact = true;                                                   ///< Mask secrets.
  bool watch = true;                          ///< Detect and report changes of files also between requests.
  std::vector<std::string> own_files;         ///< Files that are treated as missing; see `env_file::open`.
  std::function<void(std::string_view)> log;  ///< Receives lines about problems; may be empty. Threads: any.
};

/// Returns the environment of this process as `NAME=value`. No other thread may set variables during the call.
[[nodiscard]] std::vector<std::string> process_environment();

[[nodiscard]] scheme_documentation describe_scheme();

/// Serves variables of the process (`env:///NAME`) and of files (`env://SLUG/NAME`). A URI without NAME stands for all
/// variables of the process or file, as one JSON object. Variables that match no pattern are not served to any caller.
/// Threads: any.
class env_provider final : public provider,
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
  /// Creates a provider and reads the files once. A missing or invalid file is not an error.
  /// Errors: invalid_argument for an invalid pattern, slug or path, nothing to serve, or two files with the same slug.
  /// source_unavailable for a folder that cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<env_provider>> open(env_options options);
  ~env_provider() override;

  [[nodiscard]] std::string name() const override { return "env"; }
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override { return env::describe_scheme(); }
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
  void unwatch(const std::string&) override {}  // the files stay watched
  void watch_list() override;
  void unwatch_list() override {}  // the files stay watched
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override {
    return {.never_blocks = files_->empty(), .masking = redacts_ ? secret_masking::by_source : secret_masking::none};
  }
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  using watched_files = std::vector<std::unique_ptr<watched_file>>;
  /// The variables of the process or of one file.
  struct variable_source {
    std::string prefix;                           // of the URIs
    std::string origin;                           // for display
    std::shared_ptr<const variable_set> current;  // null: they cannot be read
    std::optional<failure> error;                 // why `current` is null or not up to date
  };

  env_provider(std::shared_ptr<const variable_set> process, std::shared_ptr<watched_files> files, bool redacts);
  void create_watcher(std::function<void(std::string_view)> log);
  /// Starts the watcher, if there is one and a listener is set.
  void start_watching();
  /// Returns the source that a URI belongs to, after reading its file if it has changed. Errors: resource_not_found,
  /// timed_out, cancelled.
  [[nodiscard]] result<variable_source> find_source(const std::string& uri, const request_context& context);
  /// Returns all sources, and starts the watcher. A file that another call is still reading at the deadline has its previous
  /// state. Errors: cancelled.
  [[nodiscard]] result<std::vector<variable_source>> list_sources(const request_context& context);
  /// Returns the entries of all sources. Errors: cancelled.
  [[nodiscard]] result<std::shared_ptr<const entry_snapshot>> entries(const request_context& context);

  const std::shared_ptr<const variable_set> process_;  // null: not served
  const std::shared_ptr<watched_files> files_;         // shared with a thread that may be stuck
  const bool redacts_;
  std::unique_ptr<watch::folder_watcher> watcher_;  // null: not watched
  std::atomic<bool> has_listener_{false};

  std::mutex mutex_;
  // What `entries_` was made from: the variables of each source, and the text of its error.
  std::vector<std::pair<std::shared_ptr<const variable_set>, std::string>> listed_parts_;
  std::shared_ptr<const entry_snapshot> entries_;
};

}  // namespace hondana::env
