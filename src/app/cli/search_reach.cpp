/// Prefixes beside what sources claim, and rules beside the address of searches.
#include "app/cli/search_reach.hpp"

#include <algorithm>
#include <utility>

#include <hondana/access.hpp>
#include <hondana/uri.hpp>

#include "search/index/address.hpp"
#include "server/access/rules.hpp"
#include "server/catalog/prefixes.hpp"

namespace hondana::cli {
namespace {

bool may_be_served(const std::string& prefix, const std::vector<std::string>& claims) {
  return std::any_of(claims.begin(), claims.end(), [&prefix](const std::string& claim) {
    return claim.starts_with(prefix) || covers(claim, prefix) || prefix == claim + '/';
  });
}

constexpr const char* outcome_of_include = "nothing is indexed by it";
constexpr const char* outcome_of_exclude = "it leaves nothing out";

/// How many bytes both begin with.
std::size_t common_beginning(std::string_view one, std::string_view other) {
  const auto least = std::min(one.size(), other.size());
  const auto end = std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(least), other.begin());
  return static_cast<std::size_t>(end.first - one.begin());
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
                             one + " is not below any source, so " + outcome + "; the sources serve " + served)
                        .public_text);
    }
  };
  look("include", of.search->include, outcome_of_include);
  look("exclude", of.search->exclude, outcome_of_exclude);
  const auto& rules = of.access.rules;
  if (!rules.empty() && std::none_of(rules.begin(), rules.end(), opens_search)) {
    out.push_back(
        of.wrong("search", "access rules let only \"local\" read " + std::string(search::search_uri) +
                               ", so other callers cannot wait for a complete index; add an [[access.rule]] with uris = [\"" +
                               std::string(search::search_uri) + "\"] and allow = [\"list\", \"read\"]")
            .public_text);
  }
  return out;
}

prefix_use::prefix_use(const config::settings& of) : settings_(of) {
  if (!of.search) return;
  const auto add = [this](const char* key, const std::vector<std::string>& all, const char* outcome) {
    for (const auto& one : all)
      prefixes_.push_back({std::string("search.") + key, one, outcome, catalog::spellings_of_prefix(one)});
  };
  add("include", of.search->include, outcome_of_include);
  add("exclude", of.search->exclude, outcome_of_exclude);
}

void prefix_use::note(std::string_view uri) {
  for (auto& one : prefixes_) {
    for (const auto& spelled : one.spelled) {
      if (one.is_used) break;
      const auto common = common_beginning(uri, spelled);
      one.is_used = common == spelled.size();
      const bool is_nearer = common > one.common || (common == one.common && uri.size() < one.nearest.size());
      if (!is_nearer || common <= uri.find(':')) continue;
      one.common = common;
      one.nearest = uri;
    }
  }
}

void prefix_use::end(const provider& source, bool is_complete) {
  const auto claims = source.claims();
  for (auto& one : prefixes_) {
    if (!may_be_served(one.written, claims)) continue;
    one.has_source = true;
    one.is_sure = one.is_sure && is_complete;
  }
}

std::vector<std::string> prefix_use::idle() const {
  std::vector<std::string> out;
  for (const auto& one : prefixes_) {
    // What no source may have is warned of by itself.
    if (one.is_used || !one.has_source || !one.is_sure) continue;
    out.push_back(settings_
                      .wrong(one.key, "no listed resource begins with " + one.written + ", so that " + one.outcome +
                                          (one.nearest.empty() ? "; no similar URI is listed"
                                                               : "; the nearest listed URI is " + one.nearest))
                      .public_text);
  }
  return out;
}

}  // namespace hondana::cli
