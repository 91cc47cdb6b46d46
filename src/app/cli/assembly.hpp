/// Creates options and providers from the command line and the configuration, again on every reload.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "app/cli/arguments.hpp"
#include "app/cli/providers.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

/// The server's own files, which are never served. These are the configuration file, and the tokens, audit logs, keys, secrets
/// and stores named by it or by `extra_paths` (from flags). Absolute and sorted, links resolved; a path that is a link appears
/// both as itself and as its target.
[[nodiscard]] std::vector<std::string> collect_own_files(const config::settings& settings, const std::string& config_file,
                                                         const std::vector<std::string>& extra_paths);

/// Everything that a server is created from: the configuration, and the options and providers made from it.
struct server_parts {
  config::settings settings;
  server_options options;
  std::vector<std::shared_ptr<provider>> providers;
  std::map<const provider*, std::string> locations;  ///< FILE:LINE of the providers that a configuration file defines.
  std::vector<std::string> own_files;                ///< The server's own files except the audit log, see `collect_own_files`.
};

/// Assembles the parts of a server, and reassembles them on reload. Reuses providers whose configuration is unchanged. Threads:
/// one at a time.
class assembly {
 public:
  /// `log`: receives messages of providers, and about sources that cannot be served.
  assembly(source_options options, log_function log);

  /// Reads the configuration and creates providers for new and changed tables. Errors name the wrong line, or the file that
  /// could not be opened. After an error, the providers of the last success are still available for reuse.
  [[nodiscard]] result<server_parts> assemble();
  /// Call it after the server has applied the result of the last `assemble`. Releases the providers that were replaced.
  void commit() noexcept { previous_.clear(); }
  /// Call it after the server has rejected the result of the last `assemble`. The next `assemble` then reuses the providers
  /// that are still in use.
  void rollback() noexcept { instances_ = std::exchange(previous_, {}); }

 private:
  /// A provider, and the table that it was made from.
  struct source_instance {
    std::string type;
    config::section section;
    std::shared_ptr<hondana::provider> provider;
    source_limits limits;
  };
  [[nodiscard]] result<config::settings> read_settings();
  /// The folders that the command line names; the current folder if there are neither paths nor a configuration.
  [[nodiscard]] std::vector<std::string> paths() const;
  /// Adds the files source of the PATH arguments, and excludes the server's own files from every source. `repositories`: the
  /// git source of these paths; may be null.
  void add_files_source(config::settings& settings, const source_instance* repositories) const;
  /// The provider of a table: an existing one if the table is unchanged, otherwise a new one. Errors: those of the provider
  /// type.
  [[nodiscard]] result<source_instance> make_instance(const config::source& source) const;
  /// Checks whether a source of this type may have this name next to the sources in `previous`. Errors: invalid_argument.
  [[nodiscard]] static result<void> check_name(const config::source& source, const source_instance& instance,
                                               const std::vector<source_instance>& previous);
  /// The git source for PATH arguments that are git repositories. No value if there are none, if none can be served (logged),
  /// or if the configuration has its own git sources.
  [[nodiscard]] std::optional<source_instance> make_repositories(const config::settings& settings) const;

  source_options options_;
  log_function log_;
  std::vector<source_instance> instances_;
  std::vector<source_instance> previous_;  // until `commit` or `rollback`
  // Includes the files of earlier configurations: these still exist, and may be in use until the next start.
  std::set<std::string> own_files_;
};

/// One line each for access rules, the audit log, tracing, search and sources whose secrets are not masked. Features that are
/// not configured are left out.
[[nodiscard]] std::vector<std::string> describe_active_settings(const server_parts& parts);

}  // namespace hondana::cli
