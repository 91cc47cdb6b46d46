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

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> name_kinds{
    {{"subject", "subject"}, {"dns", "dns"}, {"email", "email"}, {"uri", "uri"}}};

/// Reads a text that must not be missing or empty.
void read_required(table_reader& reader, std::string_view key, std::string& target, std::string_view example) {
  reader.string(key, target);
  if (target.empty()) reader.add_error_at(key, "missing; example: " + std::string(key) + " = \"" + std::string(example) + '"');
}

result<introspection_settings> read_introspection(section table) {
  introspection_settings introspection;
  table_reader reader(table);
  read_required(reader, "endpoint", introspection.endpoint, "https://login.example.com/introspect");
  read_required(reader, "client_id", introspection.client_id, "shelf");
  reader.string("client_secret", introspection.client_secret);
  reader.file("client_secret_file", introspection.secret_file);
  if (introspection.client_secret.empty() == introspection.secret_file.empty())
    reader.add_error_at("client_secret", "expected one of client_secret_file = \"FILE\" and client_secret = \"${env:NAME}\"");
  reader.boolean("include_jwts", introspection.includes_jwts);
  reader.boolean("audience_is_optional", introspection.audience_is_optional);
  HONDANA_TRY(reader.finish());
  return introspection;
}

result<oauth_settings> read_oauth(section table) {
  oauth_settings oauth;
  table_reader reader(table);
  read_required(reader, "issuer", oauth.issuer, "https://login.example.com");
  read_required(reader, "resource", oauth.resource, "https://shelf.example.com/mcp");
  reader.strings("audiences", oauth.audiences);
  reader.string("jwks_uri", oauth.jwks_uri);
  auto skew_seconds = oauth.clock_skew.count();
  reader.integer("clock_skew_s", 0, 600, skew_seconds);
  oauth.clock_skew = std::chrono::seconds(skew_seconds);
  reader.string("documentation_url", oauth.documentation_url);
  reader.file("ca_file", oauth.ca_file);
  reader.string("proxy", oauth.proxy);
  reader.subtable("introspection", read_introspection, oauth.introspection);
  HONDANA_TRY(reader.finish());
  return oauth;
}

result<certificate_settings> read_certificates(section table) {
  certificate_settings certificates;
  table_reader reader(table);
  std::string_view name_kind = "subject";
  reader.choice("name_kind", name_kinds, name_kind);
  certificates.name_kind = name_kind;
  reader.strings("scopes", certificates.scopes);
  for (auto& entry : reader.subtables("allow")) {
    auto& [name, scopes] = certificates.allowed_names.emplace_back();
    table_reader allowed(entry);
    read_required(allowed, "name", name, "CN=alice,O=Example");
    allowed.strings("scopes", scopes);
    reader.check(allowed.finish());
  }
  if (!certificates.scopes.empty() && !certificates.allowed_names.empty())
    reader.add_error_at("scopes", "each [[auth.certificates.allow]] has scopes of its own; write them there");
  HONDANA_TRY(reader.finish());
  return certificates;
}

result<std::vector<std::string>> read_unix(section table) {
  std::vector<std::string> users;
  table_reader reader(table);
  reader.strings("users", users);
  if (users.empty()) reader.add_error_at("users", "missing; example: users = [\"alice\", \"1000\"]");
  HONDANA_TRY(reader.finish());
  return users;
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(table_reader& reader, const scope_rule& rule) {
  const auto check_key = [&](std::string_view key, scope_rule partial) {
    if (partial.scopes.empty()) partial.scopes = {"any"};
    if (const auto checked = validate_scope_rules({.rules = {std::move(partial)}}); !checked)
      reader.add_error_at(key, checked.error().public_text);
  };
  check_key("methods", {.methods = rule.methods});
  check_key("uris", {.uris = rule.uris});
  check_key("scopes", {.scopes = rule.scopes});
}

result<scope_rule> read_scope_rule(section& table) {
  scope_rule rule;
  table_reader reader(table);
  reader.strings("methods", rule.methods);
  reader.strings("uris", rule.uris);
  reader.strings("names", rule.names);
  reader.strings("scopes", rule.scopes);
  if (rule.scopes.empty()) reader.add_error_at("scopes", "missing; example: scopes = [\"read\"]");
  check_rule(reader, rule);
  HONDANA_TRY(reader.finish());
  return rule;
}

result<decltype(scope_rules::implied)> read_implied_scopes(section table) {
  decltype(scope_rules::implied) implied;
  HONDANA_TRY(auto scope_lists, table.string_lists_by_name());
  for (auto& [scope, implied_scopes] : scope_lists) {
    if (const auto checked = validate_scope_rules({.implied = {{scope, implied_scopes}}}); !checked)
      return tl::unexpected(table.error_at(scope, checked.error().public_text));
    implied.insert_or_assign(std::move(scope), std::move(implied_scopes));
  }
  return implied;
}

void read_scopes(table_reader& reader, scope_rules& target, std::vector<section>& tables) {
  reader.strings("scopes", target.always_required);
  if (const auto checked = validate_scope_rules({.always_required = target.always_required}); !checked)
    reader.add_error_at("scopes", checked.error().public_text);
  for (auto& entry : reader.subtables("rule")) {
    auto rule = read_scope_rule(entry);
    if (!rule) return reader.add_error(std::move(rule.error()));
    target.rules.push_back(std::move(*rule));
    tables.push_back(std::move(entry));
  }
  reader.subtable("implied_scopes", read_implied_scopes, target.implied);
  // A cycle can span several lines.
  if (const auto checked = validate_scope_rules({.implied = target.implied}); !checked)
    reader.add_error_at("implied_scopes", checked.error().public_text);
}

}  // namespace

result<auth_settings> read_auth(section table, scope_rules& scopes, std::vector<section>& rules) {
  auth_settings auth;
  auth.is_present = true;
  table_reader reader(table);
  reader.file("tokens", auth.token_file);
  reader.subtable("oauth", read_oauth, auth.oauth);
  reader.subtable("certificates", read_certificates, auth.certificates);
  reader.subtable("unix", read_unix, auth.users);
  read_scopes(reader, scopes, rules);
  HONDANA_TRY(reader.finish());
  return auth;
}

namespace {

/// In the rules' code an empty list means "all", but an author would expect "none". So it is rejected.
void read_nonempty_names(table_reader& reader, std::string_view key, std::vector<std::string>& target) {
  reader.strings(key, target);
  if (!reader.has(key) || !target.empty()) return;
  reader.add_error_at(key, "an empty list matches nothing. Remove the key if the rule applies to all, or remove the rule");
}

constexpr std::array<std::string_view, 2> audiences{"user", "assistant"};
constexpr std::array<std::string_view, 2> levels{"list", "read"};

void read_audience(table_reader& reader, section& table, std::optional<chat_role>& target) {
  const auto values = table.string_or_strings("audience");
  if (!values) return reader.add_error_at("audience", "expected \"user\" or \"assistant\"");
  if (!table.has("audience")) return;
  if (values->size() != 1)
    return reader.add_error_at("audience", "expected \"user\" or \"assistant\"; for both, write two rules");
  if (values->front() == "user") {
    target = chat_role::user;
  } else if (values->front() == "assistant") {
    target = chat_role::assistant;
  } else {
    reader.add_error(table.unknown_value("audience", values->front(), audiences));
  }
}

void read_access_level(table_reader& reader, const section& table, access_level& target) {
  std::vector<std::string> allowed;
  reader.strings("allow", allowed);
  std::optional<bool> denies;
  reader.boolean("deny", denies);
  const auto has = [&allowed](std::string_view level) {
    return std::find(allowed.begin(), allowed.end(), level) != allowed.end();
  };
  if (denies.value_or(false) != allowed.empty() || denies == false) {
    return reader.add_error_at("allow", "expected one of allow = [\"list\", \"read\"], allow = [\"list\"] and deny = true");
  }
  for (const auto& level : allowed) {
    if (std::find(levels.begin(), levels.end(), level) == levels.end())
      return reader.add_error(table.unknown_value("allow", level, levels));
  }
  if (has("read") && !has("list")) {
    return reader.add_error_at("allow", "\"read\" requires \"list\"; write allow = [\"list\", \"read\"]");
  }
  target = has("read") ? access_level::read : has("list") ? access_level::list : access_level::none;
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(table_reader& reader, const access_rule& rule) {
  const auto check_key = [&](std::string_view key, const access_rule& partial) {
    if (const auto checked = access::check_rule(partial); !checked) reader.add_error_at(key, checked.error().public_text);
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

result<access_rule> read_access_rule(section& table) {
  access_rule rule;
  table_reader reader(table);
  read_nonempty_names(reader, "identities", rule.identities);
  read_nonempty_names(reader, "groups", rule.groups);
  read_nonempty_names(reader, "scopes", rule.scopes);
  read_nonempty_names(reader, "uris", rule.uris);
  read_nonempty_names(reader, "patterns", rule.patterns);
  read_nonempty_names(reader, "kinds", rule.kinds);
  read_audience(reader, table, rule.audience);
  read_nonempty_names(reader, "tools", rule.tools);
  read_nonempty_names(reader, "prompts", rule.prompts);
  read_access_level(reader, table, rule.level);
  check_rule(reader, rule);
  HONDANA_TRY(reader.finish());
  return rule;
}

}  // namespace

result<access_rules> read_access(section table, std::vector<section>& tables) {
  access_rules parsed;
  table_reader reader(table);
  reader.string("group_claim", parsed.group_claim);
  for (auto& entry : reader.subtables("rule")) {
    HONDANA_TRY(auto rule, read_access_rule(entry));
    parsed.rules.push_back(std::move(rule));
    tables.push_back(std::move(entry));
  }
  HONDANA_TRY(reader.finish());
  return parsed;
}

}  // namespace hondana::config
