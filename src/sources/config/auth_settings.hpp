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

/// The introspection endpoint for tokens. The secret is in a file, or a text with `${env:NAME}`.
struct introspection_settings {
  std::string endpoint;
  std::string client_id;
  std::string client_secret;
  std::string secret_file;
  bool includes_jwts = false;
  bool audience_is_optional = false;
  friend bool operator==(const introspection_settings&, const introspection_settings&) = default;
};

/// Tokens of an authorization server.
struct oauth_settings {
  std::string issuer;
  std::string resource;
  std::vector<std::string> audiences;
  std::string jwks_uri;
  std::chrono::seconds clock_skew{30};
  std::string documentation_url;
  std::string ca_file;  ///< A path; empty: the system's.
  std::string proxy;
  std::optional<introspection_settings> introspection;
  friend bool operator==(const oauth_settings&, const oauth_settings&) = default;
};

/// Client certificates.
struct certificate_settings {
  std::string name_kind = "subject";  ///< Or "dns", "email", "uri".
  std::vector<std::string> scopes;
  std::vector<std::pair<std::string, std::vector<std::string>>> allowed_names;
  friend bool operator==(const certificate_settings&, const certificate_settings&) = default;
};

/// The table `[auth]`.
struct auth_settings {
  /// The table is present. If it configures no method of authentication, tokens in the default file are used.
  bool is_present = false;
  std::string token_file;  ///< A path; empty: see `is_present`.
  std::optional<oauth_settings> oauth;
  std::optional<certificate_settings> certificates;
  std::vector<std::string> users;  ///< Users of a Unix socket: names or numbers; empty: not checked.
  friend bool operator==(const auth_settings&, const auth_settings&) = default;
};

/// Reads the table. Scopes go into `scopes`, and the table of each rule into `rules`, in the same order. Errors:
/// invalid_argument, "FILE:LINE: auth.KEY: what was expected".
[[nodiscard]] result<auth_settings> read_auth(section table, scope_rules& scopes, std::vector<section>& rules);

/// Reads the table. `tables` receives the table of each rule, for errors that are found later. Errors: invalid_argument,
/// "FILE:LINE: access.KEY: what was expected".
[[nodiscard]] result<access_rules> read_access(section table, std::vector<section>& tables);

}  // namespace hondana::config
