/// The tables [auth] and [access]: how callers are authenticated and what they may read.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/error.hpp>
#include <hondana/scopes.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// The table `[auth.oauth.introspection]`: checks of tokens by the authorization server. See `introspection_options`.
struct introspection_settings {
  std::string endpoint;  ///< A URL.
  std::string client_id;
  std::string client_secret;  ///< May contain `${env:NAME}`. Either this or `secret_file` is set.
  std::string secret_file;    ///< A path.
  bool includes_jwts = false;
  bool audience_is_optional = false;
  friend bool operator==(const introspection_settings&, const introspection_settings&) = default;
};

/// The table `[auth.oauth]`: tokens of an authorization server. See `oauth_authenticator_options`.
struct oauth_settings {
  std::string issuer;
  std::string resource;
  std::vector<std::string> audiences;
  std::string jwks_uri;
  std::chrono::seconds clock_skew{30};
  std::string documentation_url;
  std::string ca_file;  ///< A path; empty: the system's certificates.
  std::string proxy;    ///< Empty: none.
  std::optional<introspection_settings> introspection;
  friend bool operator==(const oauth_settings&, const oauth_settings&) = default;
};

/// The table `[auth.certificates]`: client certificates. See `certificate_options`.
struct certificate_settings {
  std::string name_kind = "subject";  ///< The part that names the caller: "subject", "dns", "email" or "uri".
  std::vector<std::string> scopes;    ///< The scopes of all callers. Empty if `allowed_names` has some.
  std::vector<std::pair<std::string, std::vector<std::string>>> allowed_names;  ///< Names with their scopes; empty: all names.
  friend bool operator==(const certificate_settings&, const certificate_settings&) = default;
};

/// The table `[auth]`.
struct auth_settings {
  /// Whether the configuration has the table. If so, and all members below are empty, the default token file is used.
  bool is_present = false;
  std::string token_file;  ///< A path; empty: none.
  std::optional<oauth_settings> oauth;
  std::optional<certificate_settings> certificates;
  std::vector<std::string> users;  ///< Users of a Unix socket who are accepted: names or numbers; empty: not checked.
  friend bool operator==(const auth_settings&, const auth_settings&) = default;
};

/// Reads and checks `[auth]`, but does not open files. `scopes` receives the scope rules. `rules` receives the table of each of
/// `scopes.rules`, for errors that are found later. Errors: invalid_argument, "FILE:LINE: auth.KEY: what was expected".
[[nodiscard]] result<auth_settings> read_auth(section table, scope_rules& scopes, std::vector<section>& rules);

/// Reads and checks `[access]`. `tables` receives the table of each of `access_rules::rules`, for errors that are found later.
/// Errors: invalid_argument, "FILE:LINE: access.KEY: what was expected".
[[nodiscard]] result<access_rules> read_access(section table, std::vector<section>& tables);

}  // namespace hondana::config
