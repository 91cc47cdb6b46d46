/// Decodes metadata documents member by member.
#include "auth/oauth/metadata.hpp"

#include <algorithm>
#include <hondana/value.hpp>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/places.hpp"

namespace hondana::oauth {
namespace {

tl::unexpected<failure> broken(const std::string& what) { return fail(errc::broken_protocol, what); }

result<value> parsed(std::string_view json) {
  auto out = value::parse(json, {longest_metadata, most_metadata_values});
  if (!out) return broken("it is not valid JSON: " + cleaned(out.error().public_text));
  if (out->as_object() == nullptr) return broken("it is not a JSON object");
  return out;
}

/// Members that are null count as absent, as some servers write them.
const value* member(const value& of, std::string_view name) {
  const auto* found = of.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

result<std::string> text(const value& of, const std::string& name) {
  const auto* found = member(of, name);
  if (found == nullptr) return std::string();
  if (found->as_string() == nullptr) return broken(name + " is not a string");
  return *found->as_string();
}

result<bool> flag(const value& of, const std::string& name) {
  const auto* found = member(of, name);
  if (found == nullptr) return false;
  if (!found->as_boolean()) return broken(name + " is neither true nor false");
  return *found->as_boolean();
}

result<std::optional<std::vector<std::string>>> texts(const value& of, const std::string& name) {
  const auto* found = member(of, name);
  if (found == nullptr) return std::nullopt;
  if (found->as_array() == nullptr) return broken(name + " is not an array");
  std::vector<std::string> out;
  for (const auto& one : *found->as_array()) {
    if (one.as_string() == nullptr) return broken(name + " contains an element that is not a string");
    out.push_back(*one.as_string());
  }
  return out;
}

result<std::optional<scope_set>> scopes(const value& of) {
  HONDANA_TRY(const auto all, texts(of, "scopes_supported"));
  if (!all) return std::nullopt;
  scope_set out;
  for (const auto& one : *all) {
    if (!is_scope(one)) return broken("scopes_supported contains an invalid scope");
    out.insert(one);
  }
  return out;
}

result<std::string> endpoint(const value& of, const std::string& name) {
  auto out = text(of, name);
  if (!out || out->empty()) return out;
  HONDANA_TRY(check_endpoint(*out, name));
  return out;
}

/// Puts what was read where it belongs; remembers the first failure.
class taking {
 public:
  template <class To, class From>
  taking& operator()(To& to, result<From> from) {
    if (from && !failed_) {
      to = std::move(*from);
    } else if (!from && !failed_) {
      failed_ = std::move(from.error());
    }
    return *this;
  }
  [[nodiscard]] std::optional<failure>& failed() noexcept { return failed_; }

 private:
  std::optional<failure> failed_;
};

}  // namespace

result<resource_metadata> read_resource_metadata(std::string_view json) {
  HONDANA_TRY(const auto from, parsed(json));
  resource_metadata out;
  std::optional<std::vector<std::string>> servers;
  taking take;
  take(out.resource, text(from, "resource"))(servers, texts(from, "authorization_servers"))(out.scopes, scopes(from));
  if (take.failed()) return tl::unexpected(std::move(*take.failed()));
  if (out.resource.empty()) return broken("resource is missing");
  if (!servers || servers->empty()) return broken("authorization_servers is missing or empty, so no login is possible");
  if (servers->size() > most_authorization_servers)
    return broken("authorization_servers names more than " + std::to_string(most_authorization_servers));
  for (const auto& one : *servers) {
    HONDANA_TRY(check_issuer(one));
  }
  out.authorization_servers = std::move(*servers);
  return out;
}

bool lists(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

result<server_metadata> read_server_metadata(std::string_view json, const std::string& issuer) {
  HONDANA_TRY(const auto from, parsed(json));
  server_metadata out;
  std::optional<scope_set> supported;
  taking take;
  take(out.issuer, text(from, "issuer"));
  if (!take.failed() && out.issuer != issuer)
    return broken("its issuer is \"" + shown(out.issuer) + "\", and must be \"" + shown(issuer) + "\"");
  take(out.authorization_endpoint, endpoint(from, "authorization_endpoint"));
  take(out.token_endpoint, endpoint(from, "token_endpoint"));
  take(out.registration_endpoint, endpoint(from, "registration_endpoint"));
  take(out.revocation_endpoint, endpoint(from, "revocation_endpoint"));
  take(supported, scopes(from));
  take(out.grants, texts(from, "grant_types_supported"));
  take(out.methods, texts(from, "token_endpoint_auth_methods_supported"));
  take(out.algorithms, texts(from, "token_endpoint_auth_signing_alg_values_supported"));
  take(out.challenge_methods, texts(from, "code_challenge_methods_supported"));
  take(out.sends_issuer, flag(from, "authorization_response_iss_parameter_supported"));
  take(out.takes_documents, flag(from, "client_id_metadata_document_supported"));
  if (take.failed()) return tl::unexpected(std::move(*take.failed()));
  if (out.token_endpoint.empty()) return broken("token_endpoint is missing");
  out.scopes = std::move(supported).value_or(scope_set());
  return out;
}

server_metadata metadata_by_default(const std::string& base) {
  server_metadata out;
  out.issuer = base;
  out.authorization_endpoint = base + "/authorize";
  out.token_endpoint = base + "/token";
  out.registration_endpoint = base + "/register";
  return out;
}

result<void> check_code_grant(const server_metadata& of, bool must_say) {
  const auto refuse = [&of](const std::string& why) {
    return fail(errc::unsupported, "cannot log in at " + shown(of.issuer) + ": " + why);
  };
  if (of.authorization_endpoint.empty())
    return refuse("it has no login page (authorization_endpoint); it may serve machines only");
  if (of.grants && !lists(*of.grants, "authorization_code"))
    return refuse("it does not support logins by users (grant_types_supported); use the credentials of a machine");
  if (of.challenge_methods ? !lists(*of.challenge_methods, "S256") : must_say)
    return refuse(
        "it does not declare PKCE with S256 (code_challenge_methods_supported), without which others could use its codes; ask "
        "its operator");
  return {};
}

}  // namespace hondana::oauth
