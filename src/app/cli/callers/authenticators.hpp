/// Creates the authenticator of `hondana serve` from its settings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>

#include "app/cli/providers.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

/// How the server authenticates callers.
struct authentication_setup {
  std::shared_ptr<hondana::authenticator> authenticator;  ///< Null: callers are not authenticated.
  std::vector<std::string> method_descriptions;           ///< One line for each method, for people.
};

/// Properties of the listening sockets on which authentication methods depend.
struct listener_properties {
  bool requests_certificates = false;  ///< Clients are requested to present certificates.
  bool has_unix_socket = false;        ///< Listens on a Unix socket, or on an inherited socket, which may be one.
};

/// `$XDG_CONFIG_HOME/hondana/tokens`, next to the default configuration file; empty without a home folder.
[[nodiscard]] std::string default_token_file();
/// The token file that the server uses; empty: none. `token_file`: the file after --tokens; empty: that of the configuration.
[[nodiscard]] std::string effective_token_file(const config::settings& settings, const std::string& token_file);

/// Resolves Unix users, names or numbers, to the identities that they have without authentication, too: "local" and
/// "uid:NUMBER". Errors: invalid_argument for an unknown user.
[[nodiscard]] result<std::vector<std::pair<std::uint32_t, std::string>>> resolve_users(const std::vector<std::string>& names);

/// Creates the authenticator. `token_file`: the file after --tokens; empty: that of the configuration. Errors:
/// invalid_argument, with file and line if a setting is wrong. A method that no caller could ever use with `listener` is such
/// an error.
[[nodiscard]] result<authentication_setup> make_authentication_setup(const config::settings& settings,
                                                                     const std::string& token_file,
                                                                     listener_properties listener, const log_function& log);

}  // namespace hondana::cli
