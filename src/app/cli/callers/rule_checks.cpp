/// Warns of rules that protect nothing: for callers that cannot exist, or URIs that are never served.
#include "app/cli/callers/rule_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "app/cli/output.hpp"
#include "base/ignore/glob.hpp"
#include "search/index/search_provider.hpp"
#include "search/index/search_query.hpp"

namespace hondana::cli {
namespace {

/// The prefixes that identities of callers can have, such as "token:", and the fixed identities, such as "local".
std::vector<std::string> beginnings(const config::settings& settings, const std::string& tokens, bool may_get_tokens) {
  const auto& auth = settings.auth;
  std::vector<std::string> out{"local"};
  const bool has_another_way = auth.oauth || auth.certificates || !auth.users.empty();
  if (!tokens.empty() || !auth.tokens.empty() || (auth.is_given && !has_another_way)) out.emplace_back("token:");
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

/// Whether an identity can have this form. `wanted` may end in `*`.
bool may_be(std::string_view wanted, std::string_view beginning) {
  const bool is_open = wanted.ends_with('*');
  const auto begin = is_open ? wanted.substr(0, wanted.size() - 1) : wanted;
  if (is_open && beginning.starts_with(begin)) return true;
  const bool is_whole = beginning == "local" || beginning == "anonymous";
  return is_whole ? wanted == beginning : begin.size() > beginning.size() && begin.starts_with(beginning);
}

/// Why no caller can have an identity, or an empty text: "no caller is ever named "bob"; callers are local, token:…. …".
std::string why_unknown(const std::vector<std::string>& known, std::string_view nobody, const std::string& identity) {
  if (std::any_of(known.begin(), known.end(), [&](const auto& beginning) { return may_be(identity, beginning); })) return {};
  std::string listed;
  for (const auto& beginning : known)
    listed += (listed.empty() ? "" : ", ") + beginning + (beginning == "local" || beginning == "anonymous" ? "" : "…");
  const bool is_token =
      std::find(known.begin(), known.end(), "token:") != known.end() && identity.find(':') == std::string::npos;
  return std::string(nobody) + " is ever named \"" + visible(identity) + "\"; callers are " + listed +
         (is_token ? ". The token " + visible(identity) + " is token:" + visible(identity) : "");
}

/// The callers that one transport can have, and the texts of warnings about it.
struct way_in {
  std::vector<std::string> known;
  bool has_any_name = false;
  bool has_groups = false;
  std::string_view nobody;
  std::string_view no_groups;
};

std::vector<std::string> warnings(const config::settings& settings, const way_in& by) {
  const auto& known = by.known;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    const auto& table = settings.access_tables.at(i);
    for (const auto& one : by.has_any_name ? std::vector<std::string>() : rule.identities) {
      if (const auto why = why_unknown(known, by.nobody, one); !why.empty())
        out.push_back(table.wrong("identities", why).public_text);
    }
    if (!rule.groups.empty() && !by.has_groups) out.push_back(table.wrong("groups", std::string(by.no_groups)).public_text);
  }
  return out;
}

}  // namespace

std::vector<std::string> unknown_callers(const config::settings& settings, const std::string& tokens, bool may_get_tokens) {
  // The subject of a certificate may be any text, so with certificates no identity is unknown.
  return warnings(settings, {beginnings(settings, tokens, may_get_tokens), settings.auth.certificates.has_value(),
                             settings.auth.oauth.has_value(), "no caller",
                             "no caller has groups here: only tokens of [auth.oauth] carry groups"});
}

std::string why_unknown_caller(const config::settings& settings, const std::string& tokens, const std::string& identity) {
  if (settings.auth.certificates) return {};
  return why_unknown(beginnings(settings, tokens, true), "no caller", identity);
}

std::vector<std::string> unknown_callers_of_stdio(const config::settings& settings) {
  return warnings(settings,
                  {{"local"}, false, false, "no caller over standard input", "callers over standard input have no groups"});
}

namespace {

constexpr std::string_view advice = "Write URIs as 'hondana check' prints them, with links resolved";

bool may_be_below(const std::string& rule, const std::string& claim) {
  const auto brace = rule.find('{');
  if (brace == std::string::npos) return covers(claim, rule) || covers(rule, claim) || rule == claim + '/';
  // The literal part before the first variable may end anywhere in a segment.
  const auto literal = std::string_view(rule).substr(0, brace);
  return literal.starts_with(claim) || std::string_view(claim).starts_with(literal);
}

bool may_fit_below(const std::string& pattern, const std::string& claim) {
  const auto literal = ignore::literal_start(pattern);
  return literal.starts_with(claim) || std::string_view(claim).starts_with(literal);
}

result<void> check_all(std::string_view key, const std::vector<std::string>& written, const config::section& table,
                       const std::vector<std::string>& claims, bool (*reaches)(const std::string&, const std::string&)) {
  for (const auto& one : written) {
    if (std::any_of(claims.begin(), claims.end(), [&](const auto& claim) { return reaches(one, claim); })) continue;
    std::string served;
    for (const auto& claim : claims) served += (served.empty() ? "" : ", ") + claim;
    return tl::unexpected(
        table.wrong(key, one + " is not below any source, so the rule would protect nothing; the sources serve " + served +
                             ". " + std::string(advice)));
  }
  return {};
}

/// Compiles a rule that has only one of the original rule's URIs or patterns.
hondana::access::rule compiled(access_rule alone) {
  auto made = hondana::access::rule::make(std::move(alone), 1);
  if (!made) throw std::logic_error("a rule that was checked before is not valid: " + made.error().public_text);
  return std::move(*made);
}

/// The part before the query or fragment: the resource that a URI, template or pattern is a part of. A `?` inside a variable or
/// a character class does not count.
std::string whole_of_written(std::string_view written) {
  int depth = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth <= 0 && (c == '?' || c == '#')) return std::string(written.substr(0, i));
  }
  return std::string(written);
}

/// The URI without its query; unchanged if a rule may not have the shortened one.
std::string whole_of_uri(const std::string& uri) {
  auto whole = whole_of_written(uri);
  return hondana::access::check_rule({.uris = {whole}}) ? whole : uri;
}

/// A rule that matches the resources whose parts the pattern matches; no value if the pattern has no query. In a pattern
/// without a query, `?` matches any character.
std::optional<hondana::access::rule> compiled_of_whole(const std::string& pattern) {
  auto whole = whole_of_written(pattern);
  if (whole == pattern || !hondana::access::check_rule({.patterns = {whole}})) return std::nullopt;
  return compiled({.patterns = {std::move(whole)}});
}

std::shared_ptr<const gate::gate> made_of(scope_rules rules) {
  auto made = gate::gate::make(std::move(rules));
  if (!made) throw std::logic_error("rules that were checked before are not valid: " + made.error().public_text);
  return std::move(*made);
}

}  // namespace

result<void> check_reach(const config::settings& settings, const std::vector<std::shared_ptr<provider>>& sources) {
  std::vector<std::string> claims;
  for (const auto& one : sources) {
    auto more = one->claims();
    std::move(more.begin(), more.end(), std::back_inserter(claims));
  }
  if (settings.search) claims.emplace_back(search::search_uri);
  for (std::size_t i = 0; i < settings.scopes.rules.size(); ++i) {
    HONDANA_TRY(check_all("uris", settings.scopes.rules[i].uris, settings.rules.at(i), claims, may_be_below));
  }
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    const auto& table = settings.access_tables.at(i);
    HONDANA_TRY(check_all("uris", rule.uris, table, claims, may_be_below));
    HONDANA_TRY(check_all("patterns", rule.patterns, table, claims, may_fit_below));
  }
  return {};
}

rule_use::rule_use(const config::settings& settings) : settings_(settings), rules_(made_of(settings.scopes)) {
  scope_rules apart;
  for (std::size_t i = 0; i < settings.scopes.rules.size(); ++i) {
    const auto& rule = settings.scopes.rules[i];
    for (const auto& uri : rule.uris) {
      apart.rules.push_back({{}, {whole_of_uri(uri)}, {}, rule.scopes});
      mentions_.push_back({i});
    }
  }
  by_uri_ = made_of(std::move(apart));
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    const auto& rule = settings.access.rules[i];
    for (const auto& uri : rule.uris)
      access_mentions_.push_back({i, "uris", uri, compiled({.uris = {whole_of_uri(uri)}}), {}, false});
    for (const auto& one : rule.patterns)
      access_mentions_.push_back({i, "patterns", one, compiled({.patterns = {one}}), compiled_of_whole(one), false});
  }
  if (settings.search) static_cast<void>(of(search::search_uri));
}

std::vector<std::string> rule_use::of(std::string_view uri) {
  for (const auto index : by_uri_->rules_about(uri)) mentions_[index].is_used = true;
  for (auto& one : access_mentions_)
    one.is_used = one.is_used || one.alone.is_about_uri(uri) || (one.of_whole && one.of_whole->is_about_uri(uri));
  return rules_->needed_for(model::read_resource{std::string(uri), {}});
}

std::vector<std::string> rule_use::idle() const {
  std::vector<std::string> out;
  const auto warn = [&out](const config::section& table, std::string_view key, const std::string& written) {
    out.push_back(table.wrong(key, written + " matches no resource that is listed now. " + std::string(advice)).public_text);
  };
  std::size_t index = 0;
  for (const auto& rule : settings_.scopes.rules) {
    for (const auto& uri : rule.uris) {
      const auto& one = mentions_[index++];
      if (!one.is_used) warn(settings_.rules.at(one.rule), "uris", uri);
    }
  }
  for (const auto& one : access_mentions_) {
    if (!one.is_used) warn(settings_.access_tables.at(one.rule), one.key, one.written);
  }
  return out;
}

std::vector<std::string> unknown_kinds(const config::settings& settings,
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
  std::string told;
  for (const auto& one : known) told += (told.empty() ? "" : ", ") + one;
  for (std::size_t i = 0; i < settings.access.rules.size(); ++i) {
    for (const auto& kind : settings.access.rules[i].kinds) {
      if (known.contains(kind)) continue;
      out.push_back(settings.access_tables.at(i)
                        .wrong("kinds", "no served resource has the kind \"" + kind + "\"; there are " + told)
                        .public_text);
    }
  }
  return out;
}

}  // namespace hondana::cli
