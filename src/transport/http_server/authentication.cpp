/// Authentication of HTTP requests: bearer tokens, challenges, resource metadata, and comparing callers.
#include "transport/http_server/authentication.hpp"

#include <algorithm>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "base/bytes/random_token.hpp"
#include "base/json/writer.hpp"
#include "transport/http_server/request_head.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {
tl::expected<std::optional<std::string>, std::string_view> read_bearer(const request_head& head) {
  const auto found = head.find("Authorization");
  if (found.count == 0) return std::nullopt;
  if (found.count > 1) return tl::unexpected<std::string_view>("the header Authorization occurs more than once");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(found.first.begin(), found.first.end(), is_control)) {
    return tl::unexpected<std::string_view>("the header Authorization has a control character");
  }
  const auto scheme = found.first.substr(0, found.first.find(' '));
  if (!ascii::is_same(scheme, "Bearer")) return std::nullopt;
  auto token = found.first.substr(scheme.size());
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

resource_parts parts_of(std::string_view resource) {
  const auto authority = resource.find("://");
  const auto end = authority == std::string_view::npos ? authority : resource.find_first_of("/?", authority + 3);
  if (end == std::string_view::npos) return {resource, {}};
  auto path = resource.substr(end);
  if (path == "/") path = {};
  return {resource.substr(0, end), path};
}

/// The text for a quoted parameter. RFC 6750 has no escapes, so quotes and invalid characters are replaced.
std::string plain(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '"', '\'');
  std::replace_if(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~' || c == '\\'; }, '?');
  return out;
}

void write_list(json::writer& to, std::string_view name, const std::vector<std::string>& all) {
  if (all.empty()) return;
  to.key(name).begin_array();
  for (const auto& one : all) to.string(one);
  to.end_array();
}

}  // namespace

std::string called(bool is_secure, std::string_view host) { return (is_secure ? "https://" : "http://") + std::string(host); }

std::string metadata_url(const protected_resource& what, std::string_view called, std::string_view path) {
  const auto at = what.resource.empty() ? resource_parts{called, path} : parts_of(what.resource);
  return std::string(at.origin) + std::string(metadata_path) + std::string(at.path);
}

std::optional<std::string> metadata_text(const protected_resource& what, std::string_view called, std::string_view path) {
  const bool is_ours = path.empty() || path == "/mcp" || path == "/sse";
  const bool is_named = !what.resource.empty() && parts_of(what.resource).path == path;
  if (!is_ours && !is_named) return std::nullopt;
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("resource", what.resource.empty() ? std::string(called) + std::string(path) : what.resource);
  write_list(to, "authorization_servers", what.authorization_servers);
  write_list(to, "scopes_supported", what.scopes);
  write_list(to, "bearer_methods_supported", {"header"});
  if (!what.name.empty()) to.member("resource_name", what.name);
  if (!what.documentation.empty()) to.member("resource_documentation", what.documentation);
  to.end_object();
  return out;
}

std::string challenge_line(std::string_view metadata, std::string_view error, std::string_view description,
                           const std::vector<std::string>& scopes) {
  std::string all;
  const auto add = [&all](std::string_view name, std::string_view value) {
    if (!value.empty()) all += (all.empty() ? " " : ", ") + std::string(name) + "=\"" + plain(value) + '"';
  };
  std::string scope;
  for (const auto& one : scopes) scope += (scope.empty() ? "" : " ") + one;
  add("resource_metadata", metadata);
  add("error", error);
  if (!error.empty()) add("error_description", description);
  add("scope", scope);
  if (all.empty()) add("realm", "mcp");  // a scheme without parameters is not a valid challenge
  return "WWW-Authenticate: Bearer" + all + "\r\n";
}

bool is_same_caller(const caller& owner, const caller& who) {
  const auto client_of = [](const caller& one) { return one.proof ? std::string_view(one.proof->client) : std::string_view(); };
  return owner.identity == who.identity && client_of(owner) == client_of(who);
}

bool has_one_view(const caller& one, const caller& other) {
  if (!one.view || !other.view) return one.view == other.view;
  return one.view->id() == other.view->id();
}

}  // namespace hondana::transport::http_server
