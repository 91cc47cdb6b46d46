/// Routes requests by their header alone: path, host, origin, method and accepted formats.
#include "transport/http_server/routes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"
#include "server/session/rejections.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

site::site(std::string bound_address, offer offered) : bound_address_(std::move(bound_address)), offer_(offered) {}

result<std::shared_ptr<const site>> site::make(std::string bound_address, offer offered, const std::vector<std::string>& hosts,
                                               const std::vector<std::string>& origins) {
  auto created = std::make_shared<site>(std::move(bound_address), offered);
  for (const auto& host_text : hosts) {
    auto host = uri::parse_host_port(host_text);
    if (!host) {
      return fail(errc::invalid_argument, "Cannot allow the host \"" + host_text +
                                              "\": that is not a host. Write name, name:port, or [IPv6 address]:port.");
    }
    created->hosts_.push_back(std::move(*host));
  }
  for (const auto& origin_text : origins) {
    auto origin = uri::parse_origin(origin_text);
    if (!origin) {
      return fail(errc::invalid_argument,
                  "Cannot allow the origin \"" + origin_text +
                      "\": that is not an origin. Write https://name or http://name:port, without a path.");
    }
    created->origins_.push_back(std::move(*origin));
  }
  return std::shared_ptr<const site>(std::move(created));
}

bool site::allows_host(std::string_view authority) const {
  if (is_local_authority(authority, bound_address_)) return true;
  if (hosts_.empty()) return false;
  const auto requested = uri::parse_host_port(authority);
  return requested && std::any_of(hosts_.begin(), hosts_.end(), [&requested](const uri::host_port& host) {
           return host.host == requested->host && (!host.port || host.port == requested->port);
         });
}

bool site::allows_origin(std::string_view origin, std::string_view authority) const {
  if (is_local_origin(origin, bound_address_)) return true;
  const auto page = uri::parse_origin(origin);
  if (!page) return false;
  if (std::find(origins_.begin(), origins_.end(), *page) != origins_.end()) return true;
  // A server behind a proxy does not know whether the page uses TLS, so a missing port may be that of either scheme.
  auto requested = uri::parse_host_port(authority);
  if (!requested) return false;
  if (!requested->port) requested->port = page->is_secure ? 443 : 80;
  return *requested == page->authority;
}

namespace {

constexpr std::string_view mcp_methods = "GET, POST, DELETE, OPTIONS";
constexpr std::string_view sse_methods = "GET, OPTIONS";
constexpr std::string_view sse_message_methods = "POST, OPTIONS";
constexpr std::string_view not_events_text = "Not acceptable: a GET opens a stream of events. Send Accept: text/event-stream.";
constexpr std::string_view report_methods = "GET, HEAD, OPTIONS";

std::string allow_header(std::string_view methods) { return "Allow: " + std::string(methods) + "\r\n"; }

plain_response text_response(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", std::string(text) + "\n", {}};
}

/// The target of a request.
struct request_target {
  std::string_view authority;  ///< Set if the target is an absolute URL.
  std::string_view path;
  std::string_view query;  ///< Without the question mark.
};

/// Spec: RFC 9112 3.2.
request_target parse_target(std::string_view target) {
  request_target out;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() <= scheme.size() || !ascii::equals_ignore_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const auto end = target.find_first_of("/?");
    out.authority = target.substr(0, end);
    target = end == std::string_view::npos ? std::string_view("/") : target.substr(end);
    break;
  }
  out.path = target.substr(0, target.find('?'));
  out.query = target.substr(std::min(out.path.size() + 1, target.size()));
  return out;
}

/// The text in quotation marks, truncated. Characters that would end the quotation or the line are replaced.
std::string quote(std::string_view name) {
  constexpr std::size_t max_quoted_bytes = 100;
  std::string out(name.substr(0, max_quoted_bytes));
  std::replace_if(out.begin(), out.end(), [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\'; }, '?');
  return '"' + out + '"';
}

/// The host of the header or of the target that is not one of this server; nullopt: there is none.
std::optional<std::string_view> find_foreign_host(std::string_view host, const request_target& target, const site& site) {
  if (!site.allows_host(host)) return host;
  if (!target.authority.empty() && !site.allows_host(target.authority)) return target.authority;
  return std::nullopt;
}

/// Rejects a request unless it is addressed to this server and does not come from a foreign page.
std::optional<plain_response> check_host_and_origin(const request_head& head, const request_target& target, const site& site) {
  const auto host = head.find("Host");
  if (host.count != 1) return error_response(400, "Bad request: exactly one Host header is required.");
  if (const auto foreign = find_foreign_host(host.first, target, site)) {
    return error_response(403, "Forbidden: the Host " + quote(*foreign) +
                                   " is not a name of this server. Use http://localhost or http://127.0.0.1 with the port of "
                                   "this server, or add the name to hosts in [http] of the server's configuration (--host).");
  }
  const auto origin = head.find("Origin");
  if (origin.count > 1 || (origin.count == 1 && !site.allows_origin(origin.first, host.first))) {
    return error_response(
        403,
        "Forbidden: the Origin header names a page that this machine does not serve and the server's configuration "
        "(origins) does not list.");
  }
  return std::nullopt;
}

/// The reason for the log, with the foreign name.
std::string foreign_request_reason(const request_head& head, const request_target& target, const site& site) {
  const auto foreign = find_foreign_host(head.find("Host").first, target, site);
  if (foreign && !foreign->empty()) return "the Host " + quote(*foreign) + " is not a name of this server (--host)";
  return "the Origin " + quote(head.find("Origin").first) + " is not allowed (--origin)";
}

/// The headers of a preflight that mirror a tool's parameters; their names depend on the tools.
std::string mirrored_parameters(const request_head& head) {
  constexpr std::string_view prefix = "mcp-param-";
  std::string out;
  for (auto remaining = head.find("Access-Control-Request-Headers").first; !remaining.empty();) {
    const auto comma = remaining.find(',');
    auto name = remaining.substr(0, comma);
    remaining = comma == std::string_view::npos ? std::string_view() : remaining.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (is_token(name) && ascii::equals_ignore_case(name.substr(0, prefix.size()), prefix)) out += ", " + std::string(name);
  }
  return out;
}

/// The answer to a CORS preflight. No authentication, because browsers send preflights without credentials. Spec: Fetch, CORS
/// protocol.
plain_response preflight(const request_head& head, std::string_view methods, bool has_origin) {
  plain_response out{204, {}, {}, allow_header(methods)};
  if (!has_origin) return out;
  out.fields += "Access-Control-Allow-Methods: " + std::string(methods) + "\r\n";
  out.fields +=
      "Access-Control-Allow-Headers: Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, "
      "Mcp-Name, Mcp-Session-Id" +
      mirrored_parameters(head) + "\r\n";
  out.fields += "Access-Control-Max-Age: 600\r\n";
  return out;
}

/// Rejects a request unless its body is a JSON message.
std::optional<plain_response> check_content(const request_head& head) {
  const auto type = head.find("Content-Type");
  if (type.count != 1 || !is_json_content(type.first)) {
    return error_response(415,
                          "Unsupported media type: send one JSON-RPC message as Content-Type: application/json, in UTF-8.");
  }
  const auto coding = head.find("Content-Encoding");
  if (coding.count > 1 || (coding.count == 1 && !ascii::equals_ignore_case(coding.first, "identity"))) {
    return error_response(415, "Unsupported media type: send the message without Content-Encoding.");
  }
  const auto expectation = head.find("Expect");
  if (expectation.count > 1 || (expectation.count == 1 && !ascii::equals_ignore_case(expectation.first, "100-continue"))) {
    return error_response(417, "Expectation failed: the only expectation understood is 100-continue.");
  }
  return std::nullopt;
}

/// Rejects a request unless its body is a JSON message, and it accepts one of our two answer formats.
std::optional<plain_response> check_formats(const request_head& head, rpc::http_headers& headers) {
  if (auto error = check_content(head)) return error;
  const auto accept = head.joined_values("Accept").value_or("");
  headers.accepts_json = accepts_json(accept);
  headers.accepts_stream = accepts_events(accept);
  if (!headers.accepts_json && !headers.accepts_stream) {
    return error_response(406,
                          "Not acceptable: this server answers with application/json or text/event-stream. Send Accept: "
                          "application/json, text/event-stream.");
  }
  return std::nullopt;
}

/// Parses the header fields that mirror the message. A repeated field is malformed, since two parsers could choose different
/// values.
std::optional<plain_response> parse_headers(const request_head& head, rpc::http_headers& headers) {
  using member_pointer = std::optional<std::string> rpc::http_headers::*;
  constexpr std::array<std::pair<std::string_view, member_pointer>, 5> mirrored{{
      {"MCP-Protocol-Version", &rpc::http_headers::protocol_version},
      {"Mcp-Method", &rpc::http_headers::method},
      {"Mcp-Name", &rpc::http_headers::name},
      {"Mcp-Session-Id", &rpc::http_headers::session_id},
      {"Last-Event-ID", &rpc::http_headers::last_event_id},
  }};
  for (const auto& [name, member] : mirrored) {
    const auto field = head.find(name);
    if (field.count > 1) return error_response(400, "Bad request: the header " + std::string(name) + " occurs more than once.");
    if (field.count == 1) headers.*member = std::string(field.first);
  }
  constexpr std::string_view prefix = "Mcp-Param-";
  for (const auto& field : head.fields) {
    if (field.name.size() <= prefix.size() || !ascii::equals_ignore_case(field.name.substr(0, prefix.size()), prefix)) continue;
    if (head.find(field.name).count > 1) {
      return error_response(400, "Bad request: the header " + std::string(field.name) + " occurs more than once.");
    }
    headers.arguments.emplace_back(std::string(field.name.substr(prefix.size())), std::string(field.value));
  }
  return std::nullopt;
}

void route_mcp(const request_head& head, route& out) {
  if (auto header_error = parse_headers(head, out.headers)) {
    out.response = std::move(*header_error);
  } else if (head.method == "POST") {
    if (auto error = check_formats(head, out.headers)) {
      out.response = std::move(*error);
    } else {
      out.type = route::kind::message;
    }
  } else if (head.method == "DELETE") {
    out.type = route::kind::end_session;
  } else if (head.method != "GET") {
    out.response = error_response(
        405, "Method not allowed: send messages by POST, open the stream of a session by GET, end it by DELETE.");
    out.response.fields = allow_header(mcp_methods);
  } else if (!accepts_events(head.joined_values("Accept").value_or(""))) {
    out.response = {406, "application/json", session::error_text(406, not_events_text, out.headers), {}};
  } else {
    out.type = route::kind::stream;
  }
}

/// Routes the transport of the oldest revision: `/sse` opens the stream, whose first event contains `/message` with the id of a
/// session. Spec: 2024-11-05 basic/transports#http-with-sse.
void route_sse(const request_head& head, route& out) {
  if (head.method != "GET") {
    out.response = error_response(405, "Method not allowed: open this stream by GET. Clients of newer revisions use /mcp.");
    out.response.fields = allow_header(sse_methods);
  } else if (!accepts_events(head.joined_values("Accept").value_or(""))) {
    out.response = error_response(406, not_events_text);
  } else {
    out.type = route::kind::sse_stream;
  }
}

void route_sse_message(const request_head& head, std::string_view query, route& out) {
  constexpr std::string_view parameter = "sessionId=";
  if (head.method != "POST") {
    out.response = error_response(405, "Method not allowed: send messages by POST.");
    out.response.fields = allow_header(sse_message_methods);
  } else if (auto error = check_content(head)) {
    out.response = std::move(*error);
  } else if (!query.starts_with(parameter)) {
    out.response =
        error_response(400, "Bad request: the session is missing. Send messages to the address that the /sse stream gives.");
  } else {
    out.headers.session_id = std::string(query.substr(parameter.size()));
    out.type = route::kind::sse_message;
  }
}

/// Routes reports, which have the usual names of Kubernetes, and metadata, which needs no token.
void route_report(const request_head& head, route::kind kind, route& out) {
  if (head.method == "OPTIONS") {
    out.response = preflight(head, report_methods, !out.allowed_origin.empty());
  } else if (head.method == "GET" || head.method == "HEAD") {
    out.type = kind;
  } else {
    out.response = text_response(405, "Method not allowed: use GET.");
    out.response.fields = allow_header(report_methods);
  }
}

/// The methods of a path for messages; empty for other paths.
std::string_view methods_of(std::string_view path) {
  if (path == "/mcp") return mcp_methods;
  if (path == "/sse") return sse_methods;
  if (path == "/message") return sse_message_methods;
  return {};
}

/// Whether a query contains a token. Spec: basic/authorization#token-requirements (2), RFC 6750 section 2.3.
bool has_token(std::string_view query) {
  while (!query.empty()) {
    const auto name = percent_decode(uri::pop_parameter(query).name);
    if (name && *name == "access_token") return true;
  }
  return false;
}

}  // namespace

route find_route(const request_head& head, const site& site) {
  route out;
  const auto target = parse_target(head.target);
  if (auto error = check_host_and_origin(head, target, site)) {
    out.response = std::move(*error);
    if (out.response.status == 403) out.rejection_reason = foreign_request_reason(head, target, site);
    return out;
  }
  out.allowed_origin = head.find("Origin").first;
  if (const auto methods = site.offers_messages() ? methods_of(target.path) : std::string_view(); !methods.empty()) {
    if (head.method == "OPTIONS") {
      out.response = preflight(head, methods, !out.allowed_origin.empty());
      return out;
    }
    out.needs_authentication = true;
    out.has_token_in_url = has_token(target.query);
    out.subject = target.path == "/mcp" ? "/mcp" : "/sse";
    if (target.path == "/mcp") {
      route_mcp(head, out);
    } else if (target.path == "/sse") {
      route_sse(head, out);
    } else {
      route_sse_message(head, target.query, out);
    }
  } else if (site.offers_messages() && target.path.starts_with(metadata_path)) {
    out.subject = target.path.substr(metadata_path.size());
    route_report(head, route::kind::metadata, out);
  } else if (site.offers_messages() && target.path.starts_with(webhook_path)) {
    // Other methods get the same answer as an unknown path, so that it stays unknown which sources accept webhooks.
    if (head.method == "POST") {
      out.type = route::kind::webhook;
      out.subject = target.path.substr(webhook_path.size());
    } else {
      out.response = not_found(site);
    }
  } else if (site.offers_reports() && target.path == "/healthz") {
    route_report(head, route::kind::health, out);
  } else if (site.offers_reports() && target.path == "/readyz") {
    route_report(head, route::kind::ready, out);
  } else if (site.offers_reports() && target.path == "/metrics") {
    route_report(head, route::kind::metrics, out);
    // At an address for messages, metrics require the same authentication as messages: they show the load of the server.
    out.needs_authentication = site.offers_messages() && out.type == route::kind::metrics;
    out.has_token_in_url = out.needs_authentication && has_token(target.query);
    out.subject = "/mcp";
  } else {
    out.response = not_found(site);
  }
  return out;
}

plain_response not_found(const site& site) {
  return text_response(
      404, site.offers_messages()
               ? "Not found. The MCP endpoint of this server is /mcp."
               : "Not found. This address serves only /healthz, /readyz and /metrics; the MCP endpoint has another address.");
}

plain_response error_response(int status, std::string_view text) {
  return {status, "application/json", session::error_text(status, text), {}};
}

}  // namespace hondana::transport::http_server
