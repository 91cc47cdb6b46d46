/// URLs of MCP servers (resources), issuers, endpoints and metadata, and checks of these URLs.
#include "auth/oauth/authorization_urls.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::oauth {
namespace {

using transport::http_client::has_credentials;
using transport::http_client::origin_of;

std::string query_of(std::string_view url) {
  const auto query = split_uri(url).query;
  return query ? '?' + std::string(*query) : std::string();
}

/// Whether a URL is safe for programs such as `xdg-open` that may pass it to a shell: no quotes, `$`, `;`, parentheses or
/// blanks.
bool has_safe_characters(std::string_view url) noexcept {
  static constexpr std::string_view punctuation = "-._~:/?#[]@&+,=%";
  return std::all_of(url.begin(), url.end(), [](char c) {
    return ascii::is_letter(c) || (c >= '0' && c <= '9') || punctuation.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string display_url(std::string_view url) { return transport::http_client::display_url(url); }

std::string base_url(const std::string& url) {
  const auto parts = split_uri(url);
  return std::string(parts.scheme) + "://" + std::string(parts.authority.value_or(std::string_view()));
}

result<std::string> canonical_resource(const std::string& url) {
  if (!origin_of(url) || !split_uri(url).authority)
    return fail(errc::invalid_argument, "\"" + display_url(url) + "\" is not an http: or https: URL, so no login is possible");
  if (has_credentials(url)) return fail(errc::invalid_argument, "the server's URL contains a user name or password");
  auto out = ascii::to_lower(base_url(url));
  const auto path = split_uri(url).path;
  if (path != "/") out += path;
  return out + query_of(url);
}

bool is_resource_of(const std::string& published, const std::string& url) {
  const auto origin = origin_of(published);
  if (!origin || origin != origin_of(url) || has_credentials(published) || split_uri(published).fragment) return false;
  if (split_uri(published).query && query_of(published) != query_of(url)) return false;
  const auto published_path = std::string(split_uri(published).path);
  const auto path = std::string(split_uri(url).path);
  if (path == published_path) return true;
  return path.starts_with(published_path.ends_with('/') ? published_path : published_path + '/') ||
         (published_path == "/" && path.empty());
}

std::vector<std::string> resource_metadata_urls(const std::string& resource) {
  const auto root = base_url(resource) + "/.well-known/oauth-protected-resource";
  const auto path = std::string(split_uri(resource).path);
  const auto inserted = (path == "/" ? std::string() : path) + query_of(resource);
  if (inserted.empty()) return {root};
  return {root + inserted, root};
}

bool is_on_this_machine(const std::string& url) { return transport::http_client::is_local_url(url); }

result<void> check_endpoint(const std::string& url, std::string_view name) {
  const auto reject = [&](const std::string& reason) {
    return fail(errc::protocol_error, std::string(name) + " cannot be used: " + reason);
  };
  if (!has_safe_characters(url)) return reject("it is not a URL, or contains invalid characters");
  // The program that opens the URL may accept only a lower-case scheme.
  const bool is_secure = url.starts_with("https://");
  if (!origin_of(url) || (!is_secure && !url.starts_with("http://"))) return reject("it is not an https: URL");
  if (!is_secure && !is_on_this_machine(url))
    return reject("\"" + display_url(url) + "\" is not https:, so others on the network could read tokens");
  if (has_credentials(url)) return reject("it contains a user name");
  if (split_uri(url).fragment) return reject("it has a fragment");
  return {};
}

result<void> check_issuer(const std::string& url) {
  HONDANA_TRY(check_endpoint(url, "the issuer"));
  if (split_uri(url).query) return fail(errc::protocol_error, "the issuer cannot be used: it has a query");
  return {};
}

}  // namespace hondana::oauth
