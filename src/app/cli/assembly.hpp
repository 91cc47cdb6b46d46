/// Makes options and providers from the command line and the configuration, again on every reload.
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

/// Absolute paths, links resolved, of the configuration file and the tokens, records, keys, secrets and stores that it or
/// `more` (flags) name. A path that is a link is there as itself and as what it leads to. Sorted.
[[nodiscard]] std::vector<std::string> kept_back(const config::settings& settings, const std::string& config,
                                                 const std::vector<std::string>& more);

/// What a server is made of.
struct parts {
  config::settings settings;
  server_options options;
  std::vector<std::shared_ptr<provider>> providers;
  std::map<const provider*, std::string> places;  ///< FILE:LINE of those that stand in a configuration.
  std::vector<std::string> own;                   ///< What the server keeps for itself (see `kept_back`), but for its record.
};

/// Assembles parts, and reassembles them keeping the providers whose configuration is unchanged. Threads: one at a time.
class assembly {
 public:
  assembly(what_to_serve what, log_function log);

  /// Reads the configuration and makes what is new. Errors: what is wrong with which line, or what could not be opened; the
  /// providers of the last success are then still remembered.
  [[nodiscard]] result<parts> assemble();
  /// Call when the server has taken over what the last `assemble` made: releases the providers that it replaced.
  void keep() noexcept { before_.clear(); }
  /// Call when the server has refused it: the next `assemble` compares with what is still being served.
  void undo() noexcept { made_ = std::exchange(before_, {}); }

 private:
  struct made {
    std::string type;
    config::section from;
    std::shared_ptr<hondana::provider> provider;
    source_limits limits;
  };
  [[nodiscard]] result<config::settings> read_settings();
  /// The folders that the command line names, or stands for.
  [[nodiscard]] std::vector<std::string> paths() const;
  /// Adds their source of files, and what no source of files serves. `repositories`: what is served of them by git; may be
  /// null.
  void add_files(config::settings& to, const made* repositories) const;
  [[nodiscard]] result<made> make(const config::source& from) const;
  /// Whether a source of its type may have this name besides those of `before`.
  [[nodiscard]] static result<void> check_name(const config::source& from, const made& one, const std::vector<made>& before);
  /// Of PATH arguments that are git repositories; nothing where there are none, none can be served (the log says why), or the
  /// configuration says itself which are.
  [[nodiscard]] std::optional<made> make_repositories(const config::settings& settings) const;

  what_to_serve what_;
  log_function log_;
  std::vector<made> made_;
  std::vector<made> before_;  // until `keep` or `undo`
  // Of earlier configurations, too: what they named is still there, and may be in use until the next start.
  std::set<std::string> own_;
};

/// Access rules, the record of requests, and sources whose secrets are not masked; nothing of what there is none.
[[nodiscard]] std::vector<std::string> in_force(const parts& whole);

}  // namespace hondana::cli
