/// The tables [auth] and [access]: how callers are authenticated and what they may read.
#include "sources/config/auth_settings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access/rules.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr std::array<std::string_view, 4> certificate_name_kinds{"subject", "dns", "email", "uri"};

void require(const section& table, std::string_view key, const std::string& value, std::string_view example,
             error_collector& errors) {
  if (value.empty())
    errors.add(table.error_at(key, "missing; example: " + std::string(key) + " = \"" + std::string(example) + '"'));
}

introspection_settings read_introspection(section table, error_collector& errors) {
  introspection_settings introspection;
  errors.assign(table.string("endpoint"), introspection.endpoint);
  require(table, "endpoint", introspection.endpoint, "https://login.example.com/introspect", errors);
  errors.assign(table.string("client_id"), introspection.client_id);
  require(table, "client_id", introspection.client_id, "shelf", errors);
  errors.assign(table.string("client_secret"), introspection.client_secret);
  errors.assign_path(table, "client_secret_file", introspection.secret_file);
  if (introspection.client_secret.empty() == introspection.secret_file.empty()) {
    errors.add(
        table.error_at("client_secret", "expected one of client_secret_file = \"FILE\" and client_secret = \"${env:NAME}\""));
  }
  errors.assign(table.boolean("for_all"), introspection.includes_jwts);
  errors.assign(table.boolean("audience_is_optional"), introspection.audience_is_optional);
  errors.check(table.finish());
  return introspection;
}

oauth_settings read_oauth(section table, error_collector& errors) {
  oauth_settings oauth;
  errors.assign(table.string("issuer"), oauth.issuer);
  require(table, "issuer", oauth.issuer, "https://login.example.com", errors);
  errors.assign(table.string("resource"), oauth.resource);
  require(table, "resource", oauth.resource, "https://shelf.example.com/mcp", errors);
  errors.assign(table.strings("audiences"), oauth.audiences);
  errors.assign(table.string("keys"), oauth.jwks_uri);
  auto skew_seconds = oauth.clock_skew.count();
  errors.assign(table.integer("skew_s", 0, 600), skew_seconds);
  oauth.clock_skew = std::chrono::seconds(skew_seconds);
  errors.assign(table.string("documentation"), oauth.documentation_url);
  errors.assign_path(table, "authorities", oauth.ca_file);
  errors.assign(table.string("proxy"), oauth.proxy);
  std::optional<section> introspection;
  errors.assign(table.subsection("introspection"), introspection);
  if (introspection) oauth.introspection = read_introspection(std::move(*introspection), errors);
  errors.check(table.finish());
  return oauth;
}

certificate_settings read_certificates(section table, error_collector& errors) {
  certificate_settings certificates;
  errors.assign(table.string("name"), certificates.name_kind);
  if (std::find(certificate_name_kinds.begin(), certificate_name_kinds.end(), certificates.name_kind) ==
      certificate_name_kinds.end())
    errors.add(table.error_at("name", "expected \"subject\", \"dns\", \"email\" or \"uri\""));
  errors.assign(table.strings("scopes"), certificates.scopes);
  auto tables = table.sections("allow");
  if (!tables) {
    errors.add(std::move(tables.error()));
  } else {
    for (auto& entry : *tables) {
      auto& [name, scopes] = certificates.allowed_names.emplace_back();
      errors.assign(entry.string("name"), name);
      require(entry, "name", name, "CN=alice,O=Example", errors);
      errors.assign(entry.strings("scopes"), scopes);
      errors.check(entry.finish());
    }
  }
  if (!certificates.scopes.empty() && !certificates.allowed_names.empty())
    errors.add(table.error_at("scopes", "each [[auth.certificates.allow]] has scopes of its own; write them there"));
  errors.check(table.finish());
  return certificates;
}

void read_unix(section table, std::vector<std::string>& users, error_collector& errors) {
  errors.assign(table.strings("users"), users);
  if (users.empty()) errors.add(table.error_at("users", "missing; example: users = [\"alice\", \"1000\"]"));
  errors.check(table.finish());
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(const section& table, const scope_rule& rule, error_collector& errors) {
  const auto check_key = [&](std::string_view key, scope_rule partial) {
    if (partial.scopes.empty()) partial.scopes = {"any"};
    if (const auto checked = validate_scope_rules({.rules = {std::move(partial)}}); !checked)
      errors.add(table.error_at(key, checked.error().public_text));
  };
  check_key("methods", {.methods = rule.methods});
  check_key("uris", {.uris = rule.uris});
  check_key("scopes", {.scopes = rule.scopes});
}

void read_scopes(section& table, scope_rules& target, std::vector<section>& tables, error_collector& errors) {
  errors.assign(table.strings("scopes"), target.always_required);
  if (const auto always_checked = validate_scope_rules({.always_required = target.always_required}); !always_checked)
    errors.add(table.error_at("scopes", always_checked.error().public_text));
  auto rules = table.sections("rule");
  if (!rules) return errors.add(std::move(rules.error()));
  for (auto& entry : *rules) {
    auto& rule = target.rules.emplace_back();
    errors.assign(entry.strings("methods"), rule.methods);
    errors.assign(entry.strings("uris"), rule.uris);
    errors.assign(entry.strings("names"), rule.names);
    errors.assign(entry.strings("scopes"), rule.scopes);
    if (rule.scopes.empty()) errors.add(entry.error_at("scopes", "missing; example: scopes = [\"read\"]"));
    check_rule(entry, rule, errors);
    errors.check(entry.finish());
    tables.push_back(std::move(entry));
  }
  std::optional<section> implies;
  errors.assign(table.subsection("implies"), implies);
  if (!implies) return;
  auto scope_lists = implies->string_lists_by_name();
  if (!scope_lists) return errors.add(std::move(scope_lists.error()));
  bool is_valid = true;
  for (auto& [scope, implied_scopes] : *scope_lists) {
    if (const auto checked = validate_scope_rules({.implied = {{scope, implied_scopes}}}); !checked) {
      errors.add(implies->error_at(scope, checked.error().public_text));
      is_valid = false;
    }
    target.implied.insert_or_assign(std::move(scope), std::move(implied_scopes));
  }
  // A cycle can span several lines.
  if (const auto checked = validate_scope_rules({.implied = target.implied}); is_valid && !checked)
    errors.add(table.error_at("implies", checked.error().public_text));
}

}  // namespace

result<auth_settings> read_auth(section table, scope_rules& scopes, std::vector<section>& rules) {
  auth_settings auth;
  auth.is_present = true;
  error_collector errors;
  errors.assign_path(table, "tokens", auth.token_file);
  std::optional<section> oauth;
  errors.assign(table.subsection("oauth"), oauth);
  if (oauth) auth.oauth = read_oauth(std::move(*oauth), errors);
  std::optional<section> certificates;
  errors.assign(table.subsection("certificates"), certificates);
  if (certificates) auth.certificates = read_certificates(std::move(*certificates), errors);
  std::optional<section> unix_socket;
  errors.assign(table.subsection("unix"), unix_socket);
  if (unix_socket) read_unix(std::move(*unix_socket), auth.users, errors);
  read_scopes(table, scopes, rules, errors);
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return auth;
}

namespace {

/// In the rules' code an empty list means "all", but an author would expect "none". So it is rejected.
void read_nonempty_names(section& table, std::string_view key, std::vector<std::string>& target, error_collector& errors) {
  errors.assign(table.strings(key), target);
  if (!table.has(key) || !target.empty()) return;
  errors.add(
      table.error_at(key, "an empty list matches nothing. Remove the key if the rule applies to all, or remove the rule"));
}

void read_audience(section& table, std::optional<chat_role>& target, error_collector& errors) {
  auto values = table.string_or_strings("audience");
  if (!values) return errors.add(table.error_at("audience", "expected \"user\" or \"assistant\""));
  if (!table.has("audience")) return;
  if (*values == std::vector<std::string>{"user"}) {
    target = chat_role::user;
  } else if (*values == std::vector<std::string>{"assistant"}) {
    target = chat_role::assistant;
  } else {
    errors.add(table.error_at("audience", "expected \"user\" or \"assistant\"; for both, write two rules"));
  }
}

void read_access_level(section& table, access_level& target, error_collector& errors) {
  std::vector<std::string> allowed;
  errors.assign(table.strings("allow"), allowed);
  std::optional<bool> denies;
  errors.assign(table.boolean("deny"), denies);
  const auto has = [&allowed](std::string_view level) {
    return std::find(allowed.begin(), allowed.end(), level) != allowed.end();
  };
  const auto is_known = [](const std::string& level) { return level == "list" || level == "read"; };
  if (denies.value_or(false) != allowed.empty() || denies == false) {
    return errors.add(
        table.error_at("allow", "expected one of allow = [\"list\", \"read\"], allow = [\"list\"] and deny = true"));
  }
  if (!std::all_of(allowed.begin(), allowed.end(), is_known)) {
    return errors.add(table.error_at("allow", "expected only \"list\" and \"read\""));
  }
  if (has("read") && !has("list")) {
    return errors.add(table.error_at("allow", "\"read\" requires \"list\"; write allow = [\"list\", \"read\"]"));
  }
  target = has("read") ? access_level::read : has("list") ? access_level::list : access_level::none;
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(const section& table, const access_rule& rule, error_collector& errors) {
  const auto check_key = [&](std::string_view key, const access_rule& partial) {
    if (const auto checked = access::check_rule(partial); !checked)
      errors.add(table.error_at(key, checked.error().public_text));
  };
  check_key("identities", {.identities = rule.identities});
  check_key("groups", {.groups = rule.groups});
  check_key("scopes", {.scopes = rule.scopes});
  check_key("uris", {.uris = rule.uris});
  check_key("patterns", {.patterns = rule.patterns});
  check_key("kinds", {.kinds = rule.kinds});
  check_key("tools", {.tools = rule.tools});
  check_key("prompts", {.prompts = rule.prompts});
  check_key(rule.tools.empty() ? "prompts" : "tools", rule);
}

}  // namespace

result<access_rules> read_access(section table, std::vector<section>& tables) {
  access_rules parsed;
  error_collector errors;
  errors.assign(table.string("group_claim"), parsed.group_claim);
  auto rules = table.sections("rule");
  if (!rules) {
    errors.add(std::move(rules.error()));
  } else {
    for (auto& entry : *rules) {
      auto& rule = parsed.rules.emplace_back();
      read_nonempty_names(entry, "identities", rule.identities, errors);
      read_nonempty_names(entry, "groups", rule.groups, errors);
      read_nonempty_names(entry, "scopes", rule.scopes, errors);
      read_nonempty_names(entry, "uris", rule.uris, errors);
      read_nonempty_names(entry, "patterns", rule.patterns, errors);
      read_nonempty_names(entry, "kinds", rule.kinds, errors);
      read_audience(entry, rule.audience, errors);
      read_nonempty_names(entry, "tools", rule.tools, errors);
      read_nonempty_names(entry, "prompts", rule.prompts, errors);
      read_access_level(entry, rule.level, errors);
      check_rule(entry, rule, errors);
      errors.check(entry.finish());
      tables.push_back(std::move(entry));
    }
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return parsed;
}

}  // namespace hondana::config
