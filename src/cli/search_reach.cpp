/// Prefixes beside what sources claim, and rules beside the address of searches.
#include "cli/search_reach.hpp"

#include <algorithm>

#include <hondana/access.hpp>
#include <hondana/uri.hpp>

#include "access/rules.hpp"
#include "search/address.hpp"

namespace hondana::cli {
namespace {

bool may_be_served(const std::string& prefix, const std::vector<std::string>& claims) {
  return std::any_of(claims.begin(), claims.end(), [&prefix](const std::string& claim) {
    return claim.starts_with(prefix) || covers(claim, prefix) || prefix == claim + '/';
  });
}

/// Whether it lets somebody read the state and the results, wherever other rules stand.
bool opens_search(const access_rule& rule) {
  const auto is_of_search = [](const std::string& kind) { return kind == "state" || kind == "results"; };
  if (rule.gives < grant::read || rule.audience) return false;
  if (!rule.kinds.empty() && std::none_of(rule.kinds.begin(), rule.kinds.end(), is_of_search)) return false;
  const auto compiled = hondana::access::rule::make(rule, 1);
  if (!compiled || !compiled->is_about_uri(search::search_uri)) return false;
  const auto is_local = [](const std::string& one) { return one == "local"; };
  const bool is_for_local_alone =
      !rule.identities.empty() && std::all_of(rule.identities.begin(), rule.identities.end(), is_local);
  return !is_for_local_alone;
}

}  // namespace

std::vector<std::string> warnings_of_search(const config::settings& of, const std::vector<std::shared_ptr<provider>>& sources) {
  std::vector<std::string> out;
  if (!of.search) return out;
  std::vector<std::string> claims;
  std::string served;
  for (const auto& source : sources) {
    for (auto& claim : source->claims()) {
      served += (served.empty() ? "" : ", ") + claim;
      claims.push_back(std::move(claim));
    }
  }
  const auto look = [&](const char* key, const std::vector<std::string>& prefixes, const char* outcome) {
    for (const auto& one : prefixes) {
      if (may_be_served(one, claims)) continue;
      out.push_back(of.wrong(std::string("search.") + key,
                             one + " is below no source, so that " + outcome + "; served is what is below " + served)
                        .public_text);
    }
  };
  look("include", of.search->include, "nothing is indexed by it");
  look("exclude", of.search->exclude, "it leaves nothing out");
  const auto& rules = of.access.rules;
  if (!rules.empty() && std::none_of(rules.begin(), rules.end(), opens_search)) {
    out.push_back(of.wrong("search", "no access rule lets anybody but \"local\" read " + std::string(search::search_uri) +
                                         ", so that others search what is indexed by then and cannot wait for the rest; add "
                                         "an [[access.rule]] with uris = [\"" +
                                         std::string(search::search_uri) + "\"] and allow = [\"list\", \"read\"]")
                      .public_text);
  }
  return out;
}

}  // namespace hondana::cli
