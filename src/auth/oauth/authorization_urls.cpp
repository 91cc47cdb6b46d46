/// URLs of authorization: resources, issuers, endpoints and metadata; and the checks of what may be used.
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
bool is_plain(std::string_view url) noexcept {
  static constexpr std::string_view others = "-._~:/?#[]@&+,=%";
  return std::all_of(url.begin(), url.end(), [](char c) {
    return ascii::is_letter(c) || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string shown(std::string_view url) { return transport::http_client::shown(url); }

std::string base_of(const std::string& url) {
  const auto parts = split_uri(url);
  return std::string(parts.scheme) + "://" + std::string(parts.authority.value_or(std::string_view()));
}

result<std::string> canonical_resource(const std::string& url) {
  if (!origin_of(url) || !split_uri(url).authority)
    return fail(errc::invalid_argument, "\"" + shown(url) + "\" is not an http: or https: URL, so no login is possible");
  if (has_credentials(url)) return fail(errc::invalid_argument, "the server's URL contains a user name or password");
  auto out = ascii::in_lower_case(base_of(url));
  const auto path = split_uri(url).path;
  if (path != "/") out += path;
  return out + query_of(url);
}

bool is_resource_of(const std::string& published, const std::string& url) {
  const auto origin = origin_of(published);
  if (!origin || origin != origin_of(url) || has_credentials(published) || split_uri(published).fragment) return false;
  if (split_uri(published).query && query_of(published) != query_of(url)) return false;
  const auto above = std::string(split_uri(published).path);
  const auto path = std::string(split_uri(url).path);
  if (path == above) return true;
  return path.starts_with(above.ends_with('/') ? above : above + '/') || (above == "/" && path.empty());
}

std::vector<std::string> resource_metadata_places(const std::string& resource) {
  const auto root = base_of(resource) + "/.well-known/oauth-protected-resource";
  const auto whole = std::string(split_uri(resource).path);
  const auto inserted = (whole == "/" ? std::string() : whole) + query_of(resource);
  if (inserted.empty()) return {root};
  return {root + inserted, root};
}

bool is_on_this_machine(const std::string& url) { return transport::http_client::is_on_this_machine(url); }

result<void> check_endpoint(const std::string& url, std::string_view what) {
  const auto refuse = [&](const std::string& why) {
    return fail(errc::broken_protocol, std::string(what) + " cannot be used: " + why);
  };
  if (!is_plain(url)) return refuse("it is not a URL, or contains invalid characters");
  // The program that opens the URL may accept only a lower-case scheme.
  const bool is_secure = url.starts_with("https://");
  if (!origin_of(url) || (!is_secure && !url.starts_with("http://"))) return refuse("it is not an https: URL");
  if (!is_secure && !is_on_this_machine(url))
    return refuse("\"" + shown(url) + "\" is not https:, so others on the network could read tokens");
  if (has_credentials(url)) return refuse("it contains a user name");
  if (split_uri(url).fragment) return refuse("it has a fragment");
  return {};
}

result<void> check_issuer(const std::string& url) {
  HONDANA_TRY(check_endpoint(url, "the issuer"));
  if (split_uri(url).query) return fail(errc::broken_protocol, "the issuer cannot be used: it has a query");
  return {};
}

}  // namespace hondana::oauth
