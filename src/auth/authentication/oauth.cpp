/// Checks the options, and binds the calls to the hosts that they name.
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/issuer_metadata.hpp"
#include "auth/authentication/resource_server.hpp"
#include "auth/authentication/scope_words.hpp"
#include "transport/http_client/small_call.hpp"

namespace hondana::authentication {
namespace {

constexpr std::chrono::minutes most_skew{10};

tl::unexpected<failure> unusable(std::string_view member, std::string_view why) {
  failure out{errc::invalid_argument, "oauth_options::" + std::string(member) + ": " + std::string(why), {}};
  out.about = member;
  return tl::unexpected(std::move(out));
}

/// Tokens and keys that anybody on the way could change prove nothing.
bool is_safe(const std::string& url) { return !url.starts_with("http:") || transport::http_client::is_on_this_machine(url); }

constexpr std::string_view needs_https = "plain http: is only allowed on this machine; write https:";

result<void> check_options(const oauth_options& of) {
  if (!is_issuer(of.issuer)) return unusable("issuer", "expected a URL such as \"https://login.example.com\"");
  if (!is_safe(of.issuer)) return unusable("issuer", needs_https);
  if (!is_address(of.resource))
    return unusable("resource",
                    "expected the URL at which clients reach this server, such as \"https://shelf.example.com/mcp\"");
  if (!of.keys.empty() && !is_address(of.keys)) return unusable("keys", "expected a URL");
  if (!is_safe(of.keys)) return unusable("keys", needs_https);
  const auto& asked = of.introspection;
  if (!asked.endpoint.empty() && !is_address(asked.endpoint)) return unusable("introspection.endpoint", "expected a URL");
  if (!is_safe(asked.endpoint)) return unusable("introspection.endpoint", needs_https);
  if (!asked.endpoint.empty() && (asked.client_id.empty() || asked.client_secret.empty()))
    return unusable("introspection", "requires the client id and secret of this server at " + of.issuer);
  if (of.skew.count() < 0 || of.skew > most_skew) return unusable("skew", "expected 0 to 600 seconds");
  for (const auto* list : {&of.scopes, &of.all_scopes}) {
    for (const auto& one : *list) {
      if (!is_scope(one)) return unusable("scopes", "\"" + one + "\" is not a scope");
    }
  }
  return {};
}

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_options options) {
  namespace calls = transport::http_client;
  HONDANA_TRY(authentication::check_options(options));
  calls::call_guard guard{{calls::host_of(options.issuer)}, options.authorities, options.proxy};
  for (const auto* url : {&options.keys, &options.introspection.endpoint}) {
    if (!url->empty()) guard.hosts.push_back(calls::host_of(*url));
  }
  const auto call = [guard = std::move(guard)](const calls::small_request& what, const std::stop_token& stop) {
    return calls::call_guarded(what, guard, stop);
  };
  return std::shared_ptr<authenticator>(std::make_shared<authentication::resource_server>(std::move(options), call));
}

}  // namespace hondana::inline v0
