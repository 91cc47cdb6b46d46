/// Warns of rules that protect nothing: for callers that cannot exist, or URIs that are never served.
#include "app/cli/callers/rule_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <hondana/access.hpp>
#include <hondana/uri.hpp>

#include "app/cli/callers/authenticators.hpp"
#include "app/cli/output.hpp"
#include "auth/authentication/token_file.hpp"
#include "base/ignore/glob.hpp"
#include "base/match/suggestion.hpp"
#include "search/index/search_provider.hpp"
#include "search/index/search_query.hpp"

namespace hondana::cli {
namespace {

/// The prefixes that identities of callers can have, such as "token:", and the fixed identities, such as "local".
std::vector<std::string> identity_prefixes(const config::settings& settings, const std::string& token_file,
                                           bool may_get_tokens) {
  const auto& auth = settings.auth;
  std::vector<std::string> out{"local"};
  const bool has_other_method = auth.oauth || auth.certificates || !auth.users.empty();
  if (!token_file.empty() || !auth.token_file.empty() || (auth.is_present && !has_other_method)) out.emplace_back("token:");
  if (auth.oauth) {
    out.push_back(auth.oauth->issuer + '#');
    out.push_back(auth.oauth->issuer + "?client=");
  }
  if (!auth.users.empty()) out.emplace_back("uid:");
  if (out.size() == 1 && !auth.certificates) {
    out.insert(out.end(), {"anonymous", "uid:"});
    if (may_get_tokens) out.emplace_back("token:");
  }
  return out;
}

/// Whether an identity can have this form. `pattern` may end in `*`.
bool may_match(std::string_view pattern, std::string_view prefix) {
  const bool is_open = pattern.ends_with('*');
  const auto begin = is_open ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (is_open && prefix.starts_with(begin)) return true;
  const bool is_exact = prefix == "local" || prefix == "anonymous";
  return is_exact ? pattern == prefix : begin.size() > prefix.size() && begin.starts_with(prefix);
}

/// Why no caller can have an identity, or an empty text: "no caller is ever named "bob"; callers are local, token:…. …".
std::string unknown_identity_reason(const std::vector<std::string>& known_prefixes, std::string_view no_caller,
                                    const std::string& identity) {
  if (std::any_of(known_prefixes.begin(), known_prefixes.end(),
                  [&](const auto& prefix) { return may_match(identity, prefix); }))
    return {};
  std::string listed;
  for (const auto& prefix : known_prefixes)
    listed += (listed.empty() ? "" : ", ") + prefix + (prefix == "local" || prefix == "anonymous" ? "" : "…");
  const bool is_token = std::find(known_prefixes.begin(), known_prefixes.end(), "token:") != known_prefixes.end() &&
                        identity.find(':') == std::string::npos;
  return std::string(no_caller) + " is ever named \"" + sanitize(identity) + "\"; callers are " + listed +
         (is_token ? ". The token " + sanitize(identity) + " is token:" + sanitize(identity) : "");
}

/// "ann, bob and 3 more"
std::string list_briefly(const std::set<std::string>& names) {
  constexpr std::size_t max_names = 10;
  std::string out;
  std::size_t count = 0;
  for (const auto& name : names) {
    if (++count <= max_names) out += (out.empty() ? "" : ", ") + sanitize(name);
  }
  return count > max_names ? out + " and " + std::to_string(count - max_names) + " more" : out;
}

std::shared_ptr<const gate::gate> make_gate(scope_rules rules) {
  auto created = gate::gate::make(std::move(rules));
  if (!created) throw std::logic_error("rules that were checked before are not valid: " + created.error().public_text);
  return std::move(*created);
}

/// The callers that one transport can have, and the texts of warnings about it.
struct transport_callers {
  std::vector<std::string> known_prefixes;
  bool allows_any_identity = false;
  bool has_groups = false;
  std::string_view no_caller;
  std::string_view no_groups;
  /// The callers behind a prefix of `known_prefixes`, where they are known, and the text of a warning about others.
  struct named_callers {
    std::string prefix;
    std::set<std::string> identities;
    std::string no_name;  ///< "no token in FILE is named"
  };
  std::vector<named_callers> named{};
  /// The scopes that each kind of caller has; no value: unknown.
  std::optional<std::vector<std::vector<std::string>>> granted_scopes{};
  std::string no_scopes{};  ///< The text of a warning about scopes that `granted_scopes` do not include.
};

/// Why no caller has an identity whose prefix is known; empty if one has it, or if that is unknown.
std::string unknown_name_reason(const transport_callers& callers, const std::string& identity) {
  for (const auto& group : callers.named) {
    // "token:*" is about all tokens, also those that are created later.
    if (!identity.starts_with(group.prefix) || hondana::access::matches_name(identity, group.prefix)) continue;
    if (std::any_of(group.identities.begin(), group.identities.end(),
                    [&](const auto& known) { return hondana::access::matches_name(identity, known); }))
      return {};
    return group.no_name + " \"" + sanitize(identity.substr(group.prefix.size())) + '"' +
           (group.identities.empty() ? "; there are none" : "; there are " + list_briefly(group.identities));
  }
  return {};
}

/// Why no caller has a scope; empty if one has it, or if that is unknown.
std::string unknown_scope_reason(const transport_callers& callers, const gate::gate& gate, const std::string& scope) {
  if (!callers.granted_scopes) return {};
  auth_info required;
  required.scopes = {scope};
  std::set<std::string> known;
  for (const auto& scopes : *callers.granted_scopes) {
    auth_info granted;
    granted.scopes = scopes;
    caller_info caller;
    caller.auth_info = std::make_shared<const auth_info>(std::move(granted));
    if (gate.has_scopes_of(caller, &required)) return {};
    known.insert(scopes.begin(), scopes.end());
  }
  return callers.no_scopes + " \"" + sanitize(scope) + '"' + (known.empty() ? "" : "; there are " + list_briefly(known));
}

/// Adds the tokens and users that exist, with their scopes.
void add_known_callers(transport_callers& callers, const config::settings& settings, const std::string& token_file) {
  const auto& auth = settings.auth;
  std::vector<std::vector<std::string>> granted_scopes;
  bool is_every_scope_known = !auth.oauth;
  if (const auto file = effective_token_file(settings, token_file); !file.empty()) {
    if (const auto loaded = authentication::load_tokens(file)) {
      transport_callers::named_callers tokens{"token:", {}, "no token in " + file + " is named"};
      for (const auto& token : loaded->list.tokens) {
        tokens.identities.insert("token:" + token.name);
        granted_scopes.push_back(token.scopes);
      }
      callers.named.push_back(std::move(tokens));
    } else {
      is_every_scope_known = false;
    }
  } else if (std::find(callers.known_prefixes.begin(), callers.known_prefixes.end(), "token:") !=
             callers.known_prefixes.end()) {
    is_every_scope_known = false;
  }
  if (const auto users =
          auth.users.empty() ? result<std::vector<std::pair<std::uint32_t, std::string>>>() : resolve_users(auth.users);
      users && !users->empty()) {
    transport_callers::named_callers known{"uid:", {}, "[auth.unix] accepts no user"};
    for (const auto& [id, identity] : *users) known.identities.insert(identity);
    callers.named.push_back(std::move(known));
  }
  if (auth.certificates) {
    granted_scopes.push_back(auth.certificates->scopes);
    for (const auto& [name, scopes] : auth.certificates->allowed_names) granted_scopes.push_back(scopes);
  }
  if (is_every_scope_known) callers.granted_scopes = std::move(granted_scopes);
}

std::vector<std::string> caller_warnings(const config::settings& settings, const transport_callers& callers) {
  const auto& known = callers.known_prefixes;
  const auto gate = make_gate(settings.scopes);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    const auto& table = settings.access_tables.at(i);
    for (const auto& identity : callers.allows_any_identity ? std::vector<std::string>() : rule.identities) {
      auto reason = unknown_identity_reason(known, callers.no_caller, identity);
      if (reason.empty()) reason = unknown_name_reason(callers, identity);
      if (!reason.empty()) out.push_back(table.error_at("identities", reason).public_text);
    }
    for (const auto& scope : rule.scopes) {
      if (const auto reason = unknown_scope_reason(callers, *gate, scope); !reason.empty())
        out.push_back(table.error_at("scopes", reason).public_text);
    }
    if (!rule.groups.empty() && !callers.has_groups)
      out.push_back(table.error_at("groups", std::string(callers.no_groups)).public_text);
  }
  return out;
}

}  // namespace

std::vector<std::string> unknown_caller_warnings(const config::settings& settings, const std::string& token_file,
                                                 bool may_get_tokens) {
  // The subject of a certificate may be any text, so with certificates no identity is unknown.
  transport_callers callers{identity_prefixes(settings, token_file, may_get_tokens), settings.auth.certificates.has_value(),
                            settings.auth.oauth.has_value(), "no caller",
                            "no caller has groups here: only tokens of [auth.oauth] carry groups"};
  callers.no_scopes = "no token or certificate has the scope";
  add_known_callers(callers, settings, token_file);
  return caller_warnings(settings, callers);
}

std::string unknown_caller_reason(const config::settings& settings, const std::string& token_file,
                                  const std::string& identity) {
  if (settings.auth.certificates) return {};
  return unknown_identity_reason(identity_prefixes(settings, token_file, true), "no caller", identity);
}

std::vector<std::string> unknown_stdio_caller_warnings(const config::settings& settings) {
  transport_callers callers{
      {"local"}, false, false, "no caller over standard input", "callers over standard input have no groups"};
  callers.granted_scopes.emplace();
  callers.no_scopes = "no caller over standard input has the scope";
  return caller_warnings(settings, callers);
}

namespace {

constexpr std::string_view advice = "Write URIs as 'hondana check' prints them, with links resolved";

bool uri_may_overlap(const std::string& rule, const std::string& claim) {
  const auto brace = rule.find('{');
  if (brace == std::string::npos) return uri_covers(claim, rule) || uri_covers(rule, claim) || rule == claim + '/';
  // The literal part before the first variable may end anywhere in a segment.
  const auto literal = std::string_view(rule).substr(0, brace);
  return literal.starts_with(claim) || std::string_view(claim).starts_with(literal);
}

bool pattern_may_overlap(const std::string& pattern, const std::string& claim) {
  const auto literal = ignore::literal_start(pattern);
  return literal.starts_with(claim) || std::string_view(claim).starts_with(literal);
}

result<void> check_overlap(std::string_view key, const std::vector<std::string>& rule_texts, const config::section& table,
                           const std::vector<std::string>& claims, bool (*overlaps)(const std::string&, const std::string&)) {
  for (const auto& text : rule_texts) {
    if (std::any_of(claims.begin(), claims.end(), [&](const auto& claim) { return overlaps(text, claim); })) continue;
    std::string served;
    for (const auto& claim : claims) served += (served.empty() ? "" : ", ") + claim;
    return tl::unexpected(
        table.error_at(key, text + " is not below any source, so the rule would protect nothing; the sources serve " + served +
                                ". " + std::string(advice)));
  }
  return {};
}

/// Compiles a rule that has only one of the original rule's URIs or patterns.
hondana::access::rule compile_rule(access_rule rule) {
  auto compiled = hondana::access::rule::make(std::move(rule), 1);
  if (!compiled) throw std::logic_error("a rule that was checked before is not valid: " + compiled.error().public_text);
  return std::move(*compiled);
}

/// The part before the query or fragment: the resource that a URI, template or pattern is a part of. A `?` inside a variable or
/// a character class does not count.
std::string strip_query(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth <= 0 && (c == '?' || c == '#')) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

/// The URI without its query; unchanged if a rule may not have the shortened one.
std::string strip_uri_query(const std::string& uri) {
  auto stripped = strip_query(uri);
  return hondana::access::check_rule({.uris = {stripped}}) ? stripped : uri;
}

/// A rule that matches the resources whose parts the pattern matches; no value if the pattern has no query. In a pattern
/// without a query, `?` matches any character.
std::optional<hondana::access::rule> compile_without_query(const std::string& pattern) {
  auto stripped = strip_query(pattern);
  if (stripped == pattern || !hondana::access::check_rule({.patterns = {stripped}})) return std::nullopt;
  return compile_rule({.patterns = {std::move(stripped)}});
}

}  // namespace

result<void> check_rule_targets(const config::settings& settings, const std::vector<std::shared_ptr<provider>>& sources) {
  std::vector<std::string> claims;
  for (const auto& source : sources) {
    auto source_claims = source->claims();
    std::move(source_claims.begin(), source_claims.end(), std::back_inserter(claims));
  }
  if (settings.search) claims.emplace_back(search::search_uri);
  for (std::size_t i = 0; i < settings.scopes.rules.size(); ++i) {
    HONDANA_TRY(check_overlap("uris", settings.scopes.rules[i].uris, settings.scope_tables.at(i), claims, uri_may_overlap));
  }
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    const auto& table = settings.access_tables.at(i);
    HONDANA_TRY(check_overlap("uris", rule.uris, table, claims, uri_may_overlap));
    HONDANA_TRY(check_overlap("patterns", rule.patterns, table, claims, pattern_may_overlap));
  }
  return {};
}

rule_usage::rule_usage(const config::settings& settings) : settings_(settings), gate_(make_gate(settings.scopes)) {
  scope_rules separate_rules;
  for (std::size_t i = 0; i < settings.scopes.rules.size(); ++i) {
    const auto& rule = settings.scopes.rules[i];
    for (const auto& uri : rule.uris) {
      separate_rules.rules.push_back({{}, {strip_uri_query(uri)}, {}, rule.scopes});
      mentions_.push_back({i});
    }
  }
  uri_gate_ = make_gate(std::move(separate_rules));
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    for (const auto& uri : rule.uris)
      access_mentions_.push_back({i, "uris", uri, compile_rule({.uris = {strip_uri_query(uri)}}), {}, false});
    for (const auto& pattern : rule.patterns)
      access_mentions_.push_back(
          {i, "patterns", pattern, compile_rule({.patterns = {pattern}}), compile_without_query(pattern), false});
  }
  if (settings.search) static_cast<void>(record_uri(search::search_uri));
}

std::vector<std::string> rule_usage::record_uri(std::string_view uri) {
  for (const auto index : uri_gate_->matching_rules(uri)) mentions_[index].is_used = true;
  for (auto& mention : access_mentions_)
    mention.is_used = mention.is_used || mention.matcher.matches_uri(uri) ||
                      (mention.whole_matcher && mention.whole_matcher->matches_uri(uri));
  return gate_->required_scopes(model::read_resource{std::string(uri), {}});
}

std::vector<std::string> rule_usage::unused_warnings() const {
  std::vector<std::string> out;
  const auto warn = [&out](const config::section& table, std::string_view key, const std::string& text) {
    out.push_back(table.error_at(key, text + " matches no resource that is listed now. " + std::string(advice)).public_text);
  };
  std::size_t index = 0;
  for (const auto& rule : settings_.scopes.rules) {
    for (const auto& uri : rule.uris) {
      const auto& mention = mentions_[index++];
      if (!mention.is_used) warn(settings_.scope_tables.at(mention.rule_index), "uris", uri);
    }
  }
  for (const auto& mention : access_mentions_) {
    if (!mention.is_used) warn(settings_.access_tables.at(mention.rule_index), mention.key, mention.text);
  }
  return out;
}

std::vector<std::string> unknown_kind_warnings(const config::settings& settings,
                                               const std::vector<std::shared_ptr<provider>>& sources) {
  std::set<std::string> known;
  for (const auto& source : sources) {
    for (const auto& kind : source->documentation().kinds) known.insert(kind.name);
  }
  if (settings.search) {
    for (const auto& kind : search::describe_search().kinds) known.insert(kind.name);
  }
  std::vector<std::string> out;
  if (known.contains("*")) return out;
  const std::vector<std::string_view> known_names(known.begin(), known.end());
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    for (const auto& kind : settings.access.rules[i].kinds) {
      if (known.contains(kind)) continue;
      out.push_back(
          settings.access_tables.at(i)
              .error_at("kinds", "no served resource has the kind \"" + kind + '"' + match::suggest_known(kind, known_names))
              .public_text);
    }
  }
  return out;
}

}  // namespace hondana::cli
