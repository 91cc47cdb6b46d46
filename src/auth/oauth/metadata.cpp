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

tl::unexpected<failure> broken(const std::string& what) { return fail(errc::broken_protocol, what); }

result<value> parsed(std::string_view json) {
  auto out = value::parse(json, {longest_metadata, most_metadata_values});
  if (!out) return broken("it is not valid JSON: " + cleaned(out.error().public_text));
  if (out->as_object() == nullptr) return broken("it is not a JSON object");
  return out;
}

/// A member that is null counts as absent: some servers send such members.
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

/// Assigns parsed members and records the first failure.
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

namespace {

/// Whether an answer is a metadata document. Some servers answer every path with a page. Plain file servers do not know the
/// media type of a file without extension, so the text is checked, too.
bool is_document(const small_answer& answer) {
  return answer.status == 200 && (answer.media_type == "application/json" || answer.bytes.starts_with('{'));
}

/// Requests metadata from several places, and records why each failed.
class search {
 public:
  search(const caller_of_http& http, const std::stop_token& stop) : http_(http), stop_(stop) {}

  /// The URL and the document of the first place that has one; empty if none has. Places that must not be requested, redirects
  /// and HTTP 4xx count as missing. Errors: source_unavailable and others if a server cannot be reached or fails.
  result<std::optional<std::pair<std::string, std::string>>> first(const std::vector<std::string>& places) {
    for (const auto& place : places) {
      auto answer = http_.call({.url = place,
                                .headers = {{"Accept", "application/json"}, {"MCP-Protocol-Version", "2025-03-26"}},
                                .body = std::nullopt,
                                .most_bytes = longest_metadata,
                                .time = http_.time},
                               stop_);
      if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::invalid_argument && code != errc::access_denied) return tl::unexpected(std::move(answer.error()));
        note(answer.error().public_text);
        continue;
      }
      if (answer->status >= 500 || answer->status == 429)
        return fail(errc::source_unavailable, "cannot find out how to log in: " + shown(place) + " answered with status " +
                                                  std::to_string(answer->status));
      if (is_document(*answer)) return std::pair(place, std::move(answer->bytes));
      note(shown(place) + ": status " + std::to_string(answer->status) +
           (answer->status == 200 ? ", but not JSON" : std::string()));
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& tried() const noexcept { return tried_; }

 private:
  void note(const std::string& line) { tried_ += (tried_.empty() ? "" : "; ") + line; }

  const caller_of_http& http_;
  const std::stop_token& stop_;
  std::string tried_{};
};

tl::unexpected<failure> about(const std::string& place, failure why) {
  why.public_text = "the metadata at " + shown(place) + " cannot be used: " + why.public_text;
  return tl::unexpected(std::move(why));
}

/// The metadata of an MCP server; empty if it publishes none.
result<std::optional<resource_metadata>> metadata_of(search& through, const std::string& url, const std::string& hint) {
  auto places = resource_metadata_places(url);
  if (!hint.empty()) std::erase(places, hint);
  if (!hint.empty()) places.insert(places.begin(), hint);
  HONDANA_TRY(auto found, through.first(places));
  if (!found) return std::nullopt;
  const auto& [place, bytes] = *found;
  auto out = read_resource_metadata(bytes);
  if (!out) return about(place, std::move(out.error()));
  if (!is_resource_of(out->resource, url))
    return about(place, {errc::unauthorized,
                         "it belongs to another server, \"" + shown(out->resource) + "\", not to \"" + shown(url) +
                             "\"; if you mean that server, use its URL",
                         {}});
  return std::move(*out);
}

/// The metadata of an issuer; empty if it publishes none. `is_named`: the MCP server published the issuer. Otherwise the issuer
/// was derived from the server's URL, and its metadata may spell it with or without a final slash.
result<std::optional<server_metadata>> metadata_of_issuer(search& through, const std::string& issuer, bool is_named) {
  auto places = uri::issuer_metadata_places(issuer);
  if (!is_named) places.resize(1);
  HONDANA_TRY(auto found, through.first(places));
  if (!found) return std::nullopt;
  auto out = read_server_metadata(found->second, issuer);
  if (!out && !is_named) {
    const auto base = base_of(issuer);
    if (auto otherwise = read_server_metadata(found->second, issuer == base ? base + '/' : base)) out = std::move(otherwise);
  }
  if (!out) return about(found->first, std::move(out.error()));
  return std::move(*out);
}

}  // namespace

result<authority> discover(const caller_of_http& http, const std::string& url, const std::string& hint,
                           const issuer_choice& choose, const std::stop_token& stop) {
  search through(http, stop);
  HONDANA_TRY(auto published, metadata_of(through, url, hint));
  authority out;
  out.resource = url;
  out.is_published = published.has_value();
  // The server may be its own issuer, with or without a final slash.
  std::vector<std::string> named{base_of(url), base_of(url) + '/'};
  if (published) {
    out.resource = std::move(published->resource);
    out.scopes = std::move(published->scopes);
    named = std::move(published->authorization_servers);
  }
  HONDANA_TRY(const auto issuer, choose(named));
  HONDANA_TRY(auto server, metadata_of_issuer(through, issuer, out.is_published));
  if (server) {
    out.server = std::move(*server);
    return out;
  }
  if (out.is_published)
    return fail(errc::source_unavailable, "cannot find out how to log in at " + shown(issuer) + ": " + through.tried());
  // A login over plain http: would expose the password.
  HONDANA_TRY(check_issuer(issuer));
  out.is_assumed = true;
  out.server = metadata_by_default(base_of(issuer));
  return out;
}

result<server_metadata> server_of(const caller_of_http& http, const std::string& issuer, const std::stop_token& stop) {
  search through(http, stop);
  HONDANA_TRY(auto out, metadata_of_issuer(through, issuer, true));
  if (!out) return fail(errc::source_unavailable, "no metadata was found for " + shown(issuer) + ": " + through.tried());
  return std::move(*out);
}

}  // namespace hondana::oauth
