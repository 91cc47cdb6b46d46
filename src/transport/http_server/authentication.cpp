/// Helpers to authenticate HTTP requests: bearer tokens, challenges, metadata for clients, and comparisons of callers.
#include "transport/http_server/authentication.hpp"

#include <algorithm>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "base/bytes/random_token.hpp"
#include "base/json/writer.hpp"
#include "transport/http_server/request_head.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {
tl::expected<std::optional<std::string>, std::string_view> parse_bearer(const request_head& head) {
  const auto header = head.find("Authorization");
  if (header.count == 0) return std::nullopt;
  if (header.count > 1) return tl::unexpected<std::string_view>("the header Authorization occurs more than once");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(header.first.begin(), header.first.end(), is_control)) {
    return tl::unexpected<std::string_view>("the header Authorization has a control character");
  }
  const auto scheme = header.first.substr(0, header.first.find(' '));
  if (!ascii::equals_ignore_case(scheme, "Bearer")) return std::nullopt;
  auto token = header.first.substr(scheme.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  if (token.empty()) return std::nullopt;
  if (!bytes::is_token68(token)) {
    return tl::unexpected<std::string_view>(
        "the token has invalid characters. Send Authorization: Bearer, one space, and the token as issued");
  }
  return std::string(token);
}

namespace {

struct resource_parts {
  std::string_view origin;  // "https://host"
  std::string_view path;    // with the query; empty for the root
};

resource_parts split_resource(std::string_view resource) {
  const auto authority = resource.find("://");
  const auto end = authority == std::string_view::npos ? authority : resource.find_first_of("/?", authority + 3);
  if (end == std::string_view::npos) return {resource, {}};
  auto path = resource.substr(end);
  if (path == "/") path = {};
  return {resource.substr(0, end), path};
}

/// The text for a quoted parameter. RFC 6750 has no escapes, so quotes and invalid characters are replaced.
std::string sanitize_quoted(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '"', '\'');
  std::replace_if(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~' || c == '\\'; }, '?');
  return out;
}

void write_list(json::writer& writer, std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) return;
  writer.key(name).begin_array();
  for (const auto& value : values) writer.string(value);
  writer.end_array();
}

}  // namespace

std::string server_url(bool is_secure, std::string_view host) {
  return (is_secure ? "https://" : "http://") + std::string(host);
}

std::string metadata_url(const protected_resource& resource_metadata, std::string_view base_url, std::string_view path) {
  const auto parts = resource_metadata.resource ? split_resource(*resource_metadata.resource) : resource_parts{base_url, path};
  return std::string(parts.origin) + std::string(metadata_path) + std::string(parts.path);
}

std::optional<std::string> metadata_json(const protected_resource& resource_metadata, std::string_view base_url,
                                         std::string_view path) {
  const bool is_endpoint = path.empty() || path == "/mcp" || path == "/sse";
  const bool matches_resource = resource_metadata.resource && split_resource(*resource_metadata.resource).path == path;
  if (!is_endpoint && !matches_resource) return std::nullopt;
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  writer.member("resource", resource_metadata.resource.value_or(std::string(base_url) + std::string(path)));
  write_list(writer, "authorization_servers", resource_metadata.authorization_servers);
  write_list(writer, "scopes_supported", resource_metadata.supported_scopes);
  write_list(writer, "bearer_methods_supported", {"header"});
  if (!resource_metadata.name.empty()) writer.member("resource_name", resource_metadata.name);
  if (!resource_metadata.documentation_url.empty())
    writer.member("resource_documentation", resource_metadata.documentation_url);
  writer.end_object();
  return out;
}

std::string challenge_line(std::string_view metadata, std::string_view error, std::string_view description,
                           const std::vector<std::string>& scopes) {
  std::string parameters;
  const auto add = [&parameters](std::string_view name, std::string_view value) {
    if (!value.empty())
      parameters += (parameters.empty() ? " " : ", ") + std::string(name) + "=\"" + sanitize_quoted(value) + '"';
  };
  std::string scope;
  for (const auto& entry : scopes) scope += (scope.empty() ? "" : " ") + entry;
  add("resource_metadata", metadata);
  add("error", error);
  if (!error.empty()) add("error_description", description);
  add("scope", scope);
  if (parameters.empty()) add("realm", "mcp");  // a scheme without parameters is not a valid challenge
  return "WWW-Authenticate: Bearer" + parameters + "\r\n";
}

bool is_same_caller(const caller_info& owner, const caller_info& other) {
  const auto client_of = [](const caller_info& identity) {
    return identity.auth_info ? std::string_view(identity.auth_info->client) : std::string_view();
  };
  return owner.identity == other.identity && client_of(owner) == client_of(other);
}

bool has_same_access_filter(const caller_info& left, const caller_info& right) {
  if (!left.access_filter || !right.access_filter) return left.access_filter == right.access_filter;
  return left.access_filter->id() == right.access_filter->id();
}

}  // namespace hondana::transport::http_server
