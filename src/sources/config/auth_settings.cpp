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

constexpr std::array<std::string_view, 4> certificate_names{"subject", "dns", "email", "uri"};

void take_list(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  into = std::move(*all);
}

void take_path(section& from, std::string_view key, std::string& into, collector& errors) {
  std::optional<std::string> written;
  errors.take(from.string(key), written);
  if (!written) return;
  if (written->empty()) return errors.note(from.wrong(key, "expected the path of a file"));
  into = from.path_from(*written);
}

void need(const section& from, std::string_view key, const std::string& what, std::string_view example, collector& errors) {
  if (what.empty())
    errors.note(from.wrong(key, "missing; example: " + std::string(key) + " = \"" + std::string(example) + '"'));
}

introspection_settings read_introspection(section from, collector& errors) {
  introspection_settings made;
  errors.take(from.string("endpoint"), made.endpoint);
  need(from, "endpoint", made.endpoint, "https://login.example.com/introspect", errors);
  errors.take(from.string("client_id"), made.client_id);
  need(from, "client_id", made.client_id, "shelf", errors);
  errors.take(from.string("client_secret"), made.client_secret);
  take_path(from, "client_secret_file", made.secret_file, errors);
  if (made.client_secret.empty() == made.secret_file.empty()) {
    errors.note(
        from.wrong("client_secret", "expected one of client_secret_file = \"FILE\" and client_secret = \"${env:NAME}\""));
  }
  errors.take(from.boolean("for_all"), made.for_all);
  errors.take(from.boolean("audience_is_optional"), made.audience_is_optional);
  errors.check(from.finish());
  return made;
}

oauth_settings read_oauth(section from, collector& errors) {
  oauth_settings made;
  errors.take(from.string("issuer"), made.issuer);
  need(from, "issuer", made.issuer, "https://login.example.com", errors);
  errors.take(from.string("resource"), made.resource);
  need(from, "resource", made.resource, "https://shelf.example.com/mcp", errors);
  take_list(from, "audiences", made.audiences, errors);
  errors.take(from.string("keys"), made.keys);
  auto skew = made.skew.count();
  errors.take(from.integer("skew_s", 0, 600), skew);
  made.skew = std::chrono::seconds(skew);
  errors.take(from.string("documentation"), made.documentation);
  take_path(from, "authorities", made.authorities, errors);
  errors.take(from.string("proxy"), made.proxy);
  std::optional<section> asked;
  errors.take(from.subsection("introspection"), asked);
  if (asked) made.introspection = read_introspection(std::move(*asked), errors);
  errors.check(from.finish());
  return made;
}

certificate_settings read_certificates(section from, collector& errors) {
  certificate_settings made;
  errors.take(from.string("name"), made.name);
  if (std::find(certificate_names.begin(), certificate_names.end(), made.name) == certificate_names.end())
    errors.note(from.wrong("name", "expected \"subject\", \"dns\", \"email\" or \"uri\""));
  take_list(from, "scopes", made.scopes, errors);
  auto all = from.sections("allow");
  if (!all) {
    errors.note(std::move(all.error()));
  } else {
    for (auto& one : *all) {
      auto& [name, scopes] = made.allow.emplace_back();
      errors.take(one.string("name"), name);
      need(one, "name", name, "CN=alice,O=Example", errors);
      take_list(one, "scopes", scopes, errors);
      errors.check(one.finish());
    }
  }
  if (!made.scopes.empty() && !made.allow.empty())
    errors.note(from.wrong("scopes", "each [[auth.certificates.allow]] has scopes of its own; write them there"));
  errors.check(from.finish());
  return made;
}

void read_unix(section from, std::vector<std::string>& users, collector& errors) {
  take_list(from, "users", users, errors);
  if (users.empty()) errors.note(from.wrong("users", "missing; example: users = [\"alice\", \"1000\"]"));
  errors.check(from.finish());
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(const section& from, const scope_rule& rule, collector& errors) {
  const auto look = [&](std::string_view key, scope_rule alone) {
    if (alone.scopes.empty()) alone.scopes = {"any"};
    if (const auto sound = check({.rules = {std::move(alone)}}); !sound)
      errors.note(from.wrong(key, sound.error().public_text));
  };
  look("methods", {.methods = rule.methods});
  look("uris", {.uris = rule.uris});
  look("scopes", {.scopes = rule.scopes});
}

void read_scopes(section& from, scope_rules& into, std::vector<section>& tables, collector& errors) {
  take_list(from, "scopes", into.always, errors);
  if (const auto sound = check({.always = into.always}); !sound) errors.note(from.wrong("scopes", sound.error().public_text));
  auto rules = from.sections("rule");
  if (!rules) return errors.note(std::move(rules.error()));
  for (auto& one : *rules) {
    auto& rule = into.rules.emplace_back();
    take_list(one, "methods", rule.methods, errors);
    take_list(one, "uris", rule.uris, errors);
    take_list(one, "names", rule.names, errors);
    take_list(one, "scopes", rule.scopes, errors);
    if (rule.scopes.empty()) errors.note(one.wrong("scopes", "missing; example: scopes = [\"read\"]"));
    check_rule(one, rule, errors);
    errors.check(one.finish());
    tables.push_back(std::move(one));
  }
  std::optional<section> implies;
  errors.take(from.subsection("implies"), implies);
  if (!implies) return;
  auto all = implies->string_lists_by_name();
  if (!all) return errors.note(std::move(all.error()));
  bool is_sound = true;
  for (auto& [scope, others] : *all) {
    if (const auto sound = check({.implied = {{scope, others}}}); !sound) {
      errors.note(implies->wrong(scope, sound.error().public_text));
      is_sound = false;
    }
    into.implied.insert_or_assign(std::move(scope), std::move(others));
  }
  // A cycle can span several lines.
  if (const auto whole = check({.implied = into.implied}); is_sound && !whole)
    errors.note(from.wrong("implies", whole.error().public_text));
}

}  // namespace

result<auth_settings> read_auth(section from, scope_rules& scopes, std::vector<section>& rules) {
  auth_settings made;
  made.is_given = true;
  collector errors;
  take_path(from, "tokens", made.tokens, errors);
  std::optional<section> oauth;
  errors.take(from.subsection("oauth"), oauth);
  if (oauth) made.oauth = read_oauth(std::move(*oauth), errors);
  std::optional<section> certificates;
  errors.take(from.subsection("certificates"), certificates);
  if (certificates) made.certificates = read_certificates(std::move(*certificates), errors);
  std::optional<section> by_socket;
  errors.take(from.subsection("unix"), by_socket);
  if (by_socket) read_unix(std::move(*by_socket), made.users, errors);
  read_scopes(from, scopes, rules, errors);
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

namespace {

void take_names(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  into = std::move(*all);
}

/// In the rules' code an empty list means "all", but an author would expect "none". So it is rejected.
void take_some(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  take_names(from, key, into, errors);
  if (!from.has(key) || !into.empty()) return;
  errors.note(from.wrong(key, "an empty list matches nothing. Remove the key if the rule applies to all, or remove the rule"));
}

void take_audience(section& from, std::optional<role>& into, collector& errors) {
  auto written = from.string_or_strings("audience");
  if (!written) return errors.note(from.wrong("audience", "expected \"user\" or \"assistant\""));
  if (!from.has("audience")) return;
  if (*written == std::vector<std::string>{"user"}) {
    into = role::user;
  } else if (*written == std::vector<std::string>{"assistant"}) {
    into = role::assistant;
  } else {
    errors.note(from.wrong("audience", "expected \"user\" or \"assistant\"; for both, write two rules"));
  }
}

void take_grant(section& from, grant& into, collector& errors) {
  std::vector<std::string> allowed;
  take_names(from, "allow", allowed, errors);
  std::optional<bool> denies;
  errors.take(from.boolean("deny"), denies);
  const auto has = [&allowed](std::string_view one) { return std::find(allowed.begin(), allowed.end(), one) != allowed.end(); };
  const auto is_known = [](const std::string& one) { return one == "list" || one == "read"; };
  if (denies.value_or(false) != allowed.empty() || denies == false) {
    return errors.note(from.wrong("allow", "expected one of allow = [\"list\", \"read\"], allow = [\"list\"] and deny = true"));
  }
  if (!std::all_of(allowed.begin(), allowed.end(), is_known)) {
    return errors.note(from.wrong("allow", "expected only \"list\" and \"read\""));
  }
  if (has("read") && !has("list")) {
    return errors.note(from.wrong("allow", "\"read\" requires \"list\"; write allow = [\"list\", \"read\"]"));
  }
  into = has("read") ? grant::read : has("list") ? grant::list : grant::none;
}

/// Checks each key of a rule separately, so that an error names its line.
void check_rule(const section& from, const access_rule& rule, collector& errors) {
  const auto look = [&](std::string_view key, const access_rule& alone) {
    if (const auto sound = access::check_rule(alone); !sound) errors.note(from.wrong(key, sound.error().public_text));
  };
  look("identities", {.identities = rule.identities});
  look("groups", {.groups = rule.groups});
  look("scopes", {.scopes = rule.scopes});
  look("uris", {.uris = rule.uris});
  look("patterns", {.patterns = rule.patterns});
  look("kinds", {.kinds = rule.kinds});
  look("tools", {.tools = rule.tools});
  look("prompts", {.prompts = rule.prompts});
  look(rule.tools.empty() ? "prompts" : "tools", rule);
}

}  // namespace

result<access_rules> read_access(section from, std::vector<section>& tables) {
  access_rules made;
  collector errors;
  errors.take(from.string("group_claim"), made.group_claim);
  auto rules = from.sections("rule");
  if (!rules) {
    errors.note(std::move(rules.error()));
  } else {
    for (auto& one : *rules) {
      auto& rule = made.rules.emplace_back();
      take_some(one, "identities", rule.identities, errors);
      take_some(one, "groups", rule.groups, errors);
      take_some(one, "scopes", rule.scopes, errors);
      take_some(one, "uris", rule.uris, errors);
      take_some(one, "patterns", rule.patterns, errors);
      take_some(one, "kinds", rule.kinds, errors);
      take_audience(one, rule.audience, errors);
      take_some(one, "tools", rule.tools, errors);
      take_some(one, "prompts", rule.prompts, errors);
      take_grant(one, rule.gives, errors);
      check_rule(one, rule, errors);
      errors.check(one.finish());
      tables.push_back(std::move(one));
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
