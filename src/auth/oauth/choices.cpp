/// Decisions without any talking.
#include "auth/oauth/choices.hpp"
#include "auth/oauth/places.hpp"

#include <algorithm>

namespace hondana::oauth {

scope_set asked_for(const std::optional<kept_tokens>& of) {
  return of ? read_scopes(of->key.scope).value_or(scope_set()) : scope_set();
}

scope_set scopes_to_ask(const oauth_settings& settings, const std::optional<kept_tokens>& at_hand, const authority& at,
                        const std::optional<scope_set>& wanted) {
  auto out = wanted ? *wanted : at.scopes.value_or(scope_set());
  out.insert(settings.scopes.begin(), settings.scopes.end());
  if (at_hand && at_hand->key.issuer == at.server.issuer) out.merge(asked_for(at_hand));
  const bool is_user = settings.grant == oauth_grant::authorization_code;
  // Alone it would stand for the scopes that the server gives to whoever names none.
  if (is_user && !out.empty() && at.server.scopes.contains("offline_access")) out.insert("offline_access");
  return out;
}

result<std::string> choose_issuer(const std::vector<std::string>& named, const std::string& only,
                                  const std::optional<kept_tokens>& at_hand, const std::string& url) {
  const auto has = [&named](const std::string& one) { return std::find(named.begin(), named.end(), one) != named.end(); };
  if (!only.empty()) {
    if (has(only)) return only;
    return fail(errc::unauthorized,
                shown(url) + " requires logins at " + shown(named.front()) + ", but the configured client is registered at " +
                    shown(only) + "; if that is correct, register a client at the former and configure it with its issuer");
  }
  if (at_hand && has(at_hand->key.issuer)) return at_hand->key.issuer;
  return named.front();
}

std::optional<kept_tokens> choose_tokens(std::vector<kept_tokens> kept, const oauth_settings& settings,
                                         const std::string& url) {
  const scope_set wanted(settings.scopes.begin(), settings.scopes.end());
  std::optional<kept_tokens> out;
  for (auto& one : kept) {
    if (one.key.resource != url) continue;
    if (!settings.client_id.empty() && one.key.client_id != settings.client_id) continue;
    if (!settings.issuer.empty() && one.key.issuer != settings.issuer) continue;
    if (!covers(read_scopes(one.key.scope).value_or(scope_set()), wanted)) continue;
    if (!out || one.tokens.since > out->tokens.since) out = std::move(one);
  }
  return out;
}

}  // namespace hondana::oauth
