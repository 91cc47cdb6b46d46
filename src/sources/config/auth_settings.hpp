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

/// Whom to ask about tokens. The secret stands in a file, or is a text with `${env:NAME}`.
struct introspection_settings {
  std::string endpoint;
  std::string client_id;
  std::string client_secret;
  std::string secret_file;
  bool for_all = false;
  bool audience_is_optional = false;
  friend bool operator==(const introspection_settings&, const introspection_settings&) = default;
};

struct oauth_settings {
  std::string issuer;
  std::string resource;
  std::vector<std::string> audiences;
  std::string keys;
  std::chrono::seconds skew{30};
  std::string documentation;
  std::string authorities;  ///< A path; empty: the system's.
  std::string proxy;
  std::optional<introspection_settings> introspection;
  friend bool operator==(const oauth_settings&, const oauth_settings&) = default;
};

struct certificate_settings {
  std::string name = "subject";  ///< Or "dns", "email", "uri".
  std::vector<std::string> scopes;
  std::vector<std::pair<std::string, std::vector<std::string>>> allow;
  friend bool operator==(const certificate_settings&, const certificate_settings&) = default;
};

struct auth_settings {
  bool is_given = false;  ///< The table is there. If it names no way to tell callers apart, it means tokens in the usual file.
  std::string tokens;     ///< A path; empty: as said above.
  std::optional<oauth_settings> oauth;
  std::optional<certificate_settings> certificates;
  std::vector<std::string> users;  ///< Of a Unix socket: names or numbers; empty: not looked at.
  friend bool operator==(const auth_settings&, const auth_settings&) = default;
};

/// Reads the table; what it says of scopes goes into `scopes`, and the table of each rule into `rules`, in that order. Errors:
/// invalid_argument, "FILE:LINE: auth.KEY: what was expected".
[[nodiscard]] result<auth_settings> read_auth(section from, scope_rules& scopes, std::vector<section>& rules);

/// Reads the table, and the tables of its rules for errors about them that show only later. Errors: invalid_argument,
/// "FILE:LINE: access.KEY: what was expected".
[[nodiscard]] result<access_rules> read_access(section from, std::vector<section>& tables);

}  // namespace hondana::config
