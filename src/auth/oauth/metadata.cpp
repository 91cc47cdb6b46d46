/// Metadata that MCP servers and authorization servers publish, and its discovery.
#include "auth/oauth/metadata.hpp"

#include <algorithm>
#include <utility>

#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "base/uri/web_url.hpp"

namespace hondana::oauth {
namespace {

tl::unexpected<failure> malformed(const std::string& reason) { return fail(errc::protocol_error, reason); }

result<value> parse_object(std::string_view json) {
  auto out = value::parse(json, {max_metadata_bytes, max_metadata_values});
  if (!out) return malformed("it is not valid JSON: " + sanitize(out.error().public_text));
  if (out->as_object() == nullptr) return malformed("it is not a JSON object");
  return out;
}

/// A member that is null counts as absent: some servers send such members.
const value* find_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

result<std::string> string_member(const value& object, const std::string& name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return std::string();
  if (member->as_string() == nullptr) return malformed(name + " is not a string");
  return *member->as_string();
}

result<bool> boolean_member(const value& object, const std::string& name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return false;
  if (!member->as_boolean()) return malformed(name + " is neither true nor false");
  return *member->as_boolean();
}

result<std::optional<std::vector<std::string>>> string_list(const value& object, const std::string& name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return std::nullopt;
  if (member->as_array() == nullptr) return malformed(name + " is not an array");
  std::vector<std::string> out;
  for (const auto& element : *member->as_array()) {
    if (element.as_string() == nullptr) return malformed(name + " contains an element that is not a string");
    out.push_back(*element.as_string());
  }
  return out;
}

result<std::optional<scope_set>> supported_scopes(const value& object) {
  HONDANA_TRY(const auto list, string_list(object, "scopes_supported"));
  if (!list) return std::nullopt;
  scope_set out;
  for (const auto& element : *list) {
    if (!is_scope(element)) return malformed("scopes_supported contains an invalid scope");
    out.insert(element);
  }
  return out;
}

result<std::string> endpoint_member(const value& object, const std::string& name) {
  auto out = string_member(object, name);
  if (!out || out->empty()) return out;
  HONDANA_TRY(check_endpoint(*out, name));
  return out;
}

/// Assigns parsed members and records the first failure.
class member_assigner {
 public:
  template <class Target, class Value>
  member_assigner& operator()(Target& target, result<Value> member) {
    if (member && !error_) {
      target = std::move(*member);
    } else if (!member && !error_) {
      error_ = std::move(member.error());
    }
    return *this;
  }
  [[nodiscard]] std::optional<failure>& error() noexcept { return error_; }

 private:
  std::optional<failure> error_;
};

}  // namespace

result<resource_metadata> read_resource_metadata(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  resource_metadata out;
  std::optional<std::vector<std::string>> servers;
  member_assigner assign;
  assign(out.resource, string_member(object, "resource"))(servers, string_list(object, "authorization_servers"))(
      out.scopes, supported_scopes(object));
  if (assign.error()) return tl::unexpected(std::move(*assign.error()));
  if (out.resource.empty()) return malformed("resource is missing");
  if (!servers || servers->empty()) return malformed("authorization_servers is missing or empty, so no login is possible");
  if (servers->size() > max_authorization_servers)
    return malformed("authorization_servers names more than " + std::to_string(max_authorization_servers));
  for (const auto& issuer : *servers) {
    HONDANA_TRY(check_issuer(issuer));
  }
  out.authorization_servers = std::move(*servers);
  return out;
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

result<server_metadata> read_server_metadata(std::string_view json, const std::string& issuer) {
  HONDANA_TRY(const auto object, parse_object(json));
  server_metadata out;
  std::optional<scope_set> supported;
  member_assigner assign;
  assign(out.issuer, string_member(object, "issuer"));
  if (!assign.error() && out.issuer != issuer)
    return malformed("its issuer is \"" + display_url(out.issuer) + "\", and must be \"" + display_url(issuer) + "\"");
  assign(out.authorization_endpoint, endpoint_member(object, "authorization_endpoint"));
  assign(out.token_endpoint, endpoint_member(object, "token_endpoint"));
  assign(out.registration_endpoint, endpoint_member(object, "registration_endpoint"));
  assign(out.revocation_endpoint, endpoint_member(object, "revocation_endpoint"));
  assign(supported, supported_scopes(object));
  assign(out.grants, string_list(object, "grant_types_supported"));
  assign(out.methods, string_list(object, "token_endpoint_auth_methods_supported"));
  assign(out.algorithms, string_list(object, "token_endpoint_auth_signing_alg_values_supported"));
  assign(out.challenge_methods, string_list(object, "code_challenge_methods_supported"));
  assign(out.sends_issuer, boolean_member(object, "authorization_response_iss_parameter_supported"));
  assign(out.supports_metadata_documents, boolean_member(object, "client_id_metadata_document_supported"));
  if (assign.error()) return tl::unexpected(std::move(*assign.error()));
  if (out.token_endpoint.empty()) return malformed("token_endpoint is missing");
  out.scopes = std::move(supported).value_or(scope_set());
  return out;
}

server_metadata default_metadata(const std::string& base) {
  server_metadata out;
  out.issuer = base;
  out.authorization_endpoint = base + "/authorize";
  out.token_endpoint = base + "/token";
  out.registration_endpoint = base + "/register";
  return out;
}

result<void> check_code_grant(const server_metadata& server, bool must_declare) {
  const auto reject = [&server](const std::string& reason) {
    return fail(errc::unsupported, "cannot log in at " + display_url(server.issuer) + ": " + reason);
  };
  if (server.authorization_endpoint.empty())
    return reject("it has no login page (authorization_endpoint); it may serve machines only");
  if (server.grants && !contains(*server.grants, "authorization_code"))
    return reject("it does not support logins by users (grant_types_supported); use the credentials of a machine");
  if (server.challenge_methods ? !contains(*server.challenge_methods, "S256") : must_declare)
    return reject(
        "it does not declare PKCE with S256 (code_challenge_methods_supported), without which others could use its codes; ask "
        "its operator");
  return {};
}

namespace {

/// Whether an answer is a metadata document. Some servers answer every path with a page. Plain file servers do not know the
/// media type of a file without extension, so the text is checked, too.
bool is_document(const small_response& response) {
  return response.status == 200 && (response.media_type == "application/json" || response.body.starts_with('{'));
}

/// Requests metadata from several places, and records why each failed.
class metadata_search {
 public:
  metadata_search(const http_caller& http, const std::stop_token& stop) : http_(http), stop_(stop) {}

  /// The URL and the document of the first place that has one; empty if none has. Places that must not be requested, redirects
  /// and HTTP 4xx count as missing. Errors: source_unavailable and others if a server cannot be reached or fails.
  result<std::optional<std::pair<std::string, std::string>>> fetch_first(const std::vector<std::string>& urls) {
    for (const auto& url : urls) {
      auto response = http_.call({.url = url,
                                  .headers = {{"Accept", "application/json"}, {"MCP-Protocol-Version", "2025-03-26"}},
                                  .body = std::nullopt,
                                  .max_bytes = max_metadata_bytes,
                                  .timeout = http_.timeout},
                                 stop_);
      if (!response) {
        const auto code = response.error().code;
        if (code != errc::invalid_argument && code != errc::access_denied) return tl::unexpected(std::move(response.error()));
        note(response.error().public_text);
        continue;
      }
      if (response->status >= 500 || response->status == 429)
        return fail(errc::source_unavailable, "cannot find out how to log in: " + display_url(url) + " answered with status " +
                                                  std::to_string(response->status));
      if (is_document(*response)) return std::pair(url, std::move(response->body));
      note(display_url(url) + ": status " + std::to_string(response->status) +
           (response->status == 200 ? ", but not JSON" : std::string()));
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& errors() const noexcept { return errors_; }

 private:
  void note(const std::string& line) { errors_ += (errors_.empty() ? "" : "; ") + line; }

  const http_caller& http_;
  const std::stop_token& stop_;
  std::string errors_{};
};

tl::unexpected<failure> metadata_failure(const std::string& url, failure error) {
  error.public_text = "the metadata at " + display_url(url) + " cannot be used: " + error.public_text;
  return tl::unexpected(std::move(error));
}

/// The metadata of an MCP server; empty if it publishes none.
result<std::optional<resource_metadata>> find_resource_metadata(metadata_search& search, const std::string& url,
                                                                const std::string& metadata_hint) {
  auto urls = resource_metadata_urls(url);
  if (!metadata_hint.empty()) std::erase(urls, metadata_hint);
  if (!metadata_hint.empty()) urls.insert(urls.begin(), metadata_hint);
  HONDANA_TRY(auto fetched, search.fetch_first(urls));
  if (!fetched) return std::nullopt;
  const auto& [source_url, bytes] = *fetched;
  auto out = read_resource_metadata(bytes);
  if (!out) return metadata_failure(source_url, std::move(out.error()));
  if (!is_resource_of(out->resource, url))
    return metadata_failure(source_url, {errc::unauthorized,
                                         "it belongs to another server, \"" + display_url(out->resource) + "\", not to \"" +
                                             display_url(url) + "\"; if you mean that server, use its URL",
                                         {}});
  return std::move(*out);
}

/// The metadata of an issuer; empty if it publishes none. `is_named`: the MCP server published the issuer. Otherwise the issuer
/// was derived from the server's URL, and its metadata may spell it with or without a final slash.
result<std::optional<server_metadata>> find_issuer_metadata(metadata_search& search, const std::string& issuer, bool is_named) {
  auto urls = uri::issuer_metadata_urls(issuer);
  if (!is_named) urls.resize(1);
  HONDANA_TRY(auto fetched, search.fetch_first(urls));
  if (!fetched) return std::nullopt;
  auto out = read_server_metadata(fetched->second, issuer);
  if (!out && !is_named) {
    const auto base = base_url(issuer);
    if (auto alternative = read_server_metadata(fetched->second, issuer == base ? base + '/' : base))
      out = std::move(alternative);
  }
  if (!out) return metadata_failure(fetched->first, std::move(out.error()));
  return std::move(*out);
}

}  // namespace

result<authority> discover(const http_caller& http, const std::string& url, const std::string& metadata_hint,
                           const issuer_choice& choose, const std::stop_token& stop) {
  metadata_search search(http, stop);
  HONDANA_TRY(auto published, find_resource_metadata(search, url, metadata_hint));
  authority out;
  out.resource = url;
  out.is_published = published.has_value();
  // The server may be its own issuer, with or without a final slash.
  std::vector<std::string> issuers{base_url(url), base_url(url) + '/'};
  if (published) {
    out.resource = std::move(published->resource);
    out.scopes = std::move(published->scopes);
    issuers = std::move(published->authorization_servers);
  }
  HONDANA_TRY(const auto issuer, choose(issuers));
  HONDANA_TRY(auto server, find_issuer_metadata(search, issuer, out.is_published));
  if (server) {
    out.server = std::move(*server);
    return out;
  }
  if (out.is_published)
    return fail(errc::source_unavailable, "cannot find out how to log in at " + display_url(issuer) + ": " + search.errors());
  // A login over plain http: would expose the password.
  HONDANA_TRY(check_issuer(issuer));
  out.is_assumed = true;
  out.server = default_metadata(base_url(issuer));
  return out;
}

result<server_metadata> fetch_server_metadata(const http_caller& http, const std::string& issuer, const std::stop_token& stop) {
  metadata_search search(http, stop);
  HONDANA_TRY(auto out, find_issuer_metadata(search, issuer, true));
  if (!out) return fail(errc::source_unavailable, "no metadata was found for " + display_url(issuer) + ": " + search.errors());
  return std::move(*out);
}

}  // namespace hondana::oauth
