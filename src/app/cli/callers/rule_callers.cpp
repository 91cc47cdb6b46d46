/// Identities and groups of rules beside those that callers have.
#include "app/cli/callers/rule_callers.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

/// How the identities of callers begin, and in words.
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

/// Whether callers may be called so; `wanted` may end in `*`.
bool may_be(std::string_view wanted, std::string_view beginning) {
  const bool is_open = wanted.ends_with('*');
  const auto begin = is_open ? wanted.substr(0, wanted.size() - 1) : wanted;
  if (is_open && beginning.starts_with(begin)) return true;
  const bool is_whole = beginning == "local" || beginning == "anonymous";
  return is_whole ? wanted == beginning : begin.size() > beginning.size() && begin.starts_with(beginning);
}

/// Who comes one way, and how warnings begin and go on about it.
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
      if (std::any_of(known.begin(), known.end(), [&one](const auto& beginning) { return may_be(one, beginning); })) continue;
      std::string told;
      for (const auto& beginning : known)
        told += (told.empty() ? "" : ", ") + beginning + (beginning == "local" || beginning == "anonymous" ? "" : "…");
      const bool is_token =
          std::find(known.begin(), known.end(), "token:") != known.end() && one.find(':') == std::string::npos;
      out.push_back(table
                        .wrong("identities", std::string(by.nobody) + " is ever named \"" + visible(one) + "\"; callers are " +
                                                 told +
                                                 (is_token ? ". The token " + visible(one) + " is token:" + visible(one) : ""))
                        .public_text);
    }
    if (!rule.groups.empty() && !by.has_groups) out.push_back(table.wrong("groups", std::string(by.no_groups)).public_text);
  }
  return out;
}

}  // namespace

std::vector<std::string> unknown_callers(const config::settings& settings, const std::string& tokens, bool may_get_tokens) {
  // A certificate's subject may be any text.
  return warnings(settings, {beginnings(settings, tokens, may_get_tokens), settings.auth.certificates.has_value(),
                             settings.auth.oauth.has_value(), "no caller",
                             "no caller has groups here: only tokens of [auth.oauth] carry groups"});
}

std::vector<std::string> unknown_callers_of_stdio(const config::settings& settings) {
  return warnings(settings,
                  {{"local"}, false, false, "no caller over standard input", "callers over standard input have no groups"});
}

}  // namespace hondana::cli
