/// The provider of configured `https://` links, which are listed but never fetched.
#include "sources/links/links_provider.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"

namespace hondana::links {

namespace {

/// Normalizes a host and port: lower case, without the default port 443 and without an empty port.
std::string normalize_authority(std::string_view authority) {
  auto normalized = ascii::to_lower(authority);
  const auto port = normalized.find(':', normalized.find(']') == std::string::npos ? 0 : normalized.find(']'));
  if (port != std::string::npos && (normalized.size() == port + 1 || normalized.substr(port) == ":443"))
    normalized.resize(port);
  return normalized;
}

}  // namespace

result<resource> make_link(resource link) {
  // Checked first, so that no other error message repeats a password.
  if (const auto link_parts = split_uri(link.uri);
      link_parts.authority && link_parts.authority->find('@') != std::string_view::npos) {
    return fail(errc::invalid_argument,
                "link.uri contains a user name or password, which every client would see. Write it as https://host/path, "
                "without them.");
  }
  HONDANA_TRY(auto uri, canonical_uri(link.uri));
  const auto parts = split_uri(uri);
  const auto authority = normalize_authority(parts.authority.value_or(std::string_view()));
  if (parts.scheme != "https" || authority.empty()) {
    const auto display_text = uri.find('@') == std::string::npos ? "The link " + uri : std::string("link.uri");
    return fail(errc::invalid_argument, display_text + " is not an https:// URL with a host. Write it as https://host/path.");
  }
  if (authority.find('%') != std::string::npos) {
    return fail(
        errc::invalid_argument,
        "The link " + uri + " has a non-ASCII host name, which few clients can fetch. Write the host in punycode (xn--...).");
  }
  uri.replace(std::string_view("https://").size(), parts.authority->size(), authority);
  if (link.name.empty()) link.name = uri;
  link.uri = std::move(uri);
  link.kind = "link";
  return link;
}

links_provider::links_provider(std::vector<resource> links) : links_(std::move(links)) {}

std::string links_provider::name() const { return "links"; }

std::vector<std::string> links_provider::claims() const {
  std::vector<std::string> urls;
  urls.reserve(links_.size());
  for (std::size_t index = 0; index < links_.size(); ++index) urls.push_back(links_.at(index).uri);
  return urls;
}

scheme_documentation links_provider::documentation() const {
  return {"https",
          "Web pages listed in the configuration. Clients fetch them; this server never does.",
          {{"link", "A configured URL."}},
          {{"https://{+host_and_path}",
            "The configured URL, with the host in lower case. A read tells the client to fetch it directly."}}};
}

result<list_result> links_provider::list(const list_request& request) { return links_.page(request); }

result<read_result> links_provider::read(const read_request& request) {
  if (!links_.find(request.uri)) return fail(errc::resource_not_found, "Resource not found");
  return fail(errc::fetch_directly,
              "This server does not fetch web pages. Fetch " + request.requested_uri + " directly over HTTPS.");
}

result<resource> links_provider::describe(const describe_request& request) {
  auto match = links_.find(request.uri);
  if (!match) return fail(errc::resource_not_found, "Resource not found");
  return std::move(*match);
}

provider_traits links_provider::traits() const noexcept { return {.never_blocks = true}; }

}  // namespace hondana::links
