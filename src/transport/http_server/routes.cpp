/// Routes requests by their header alone: path, host, origin, method and accepted formats.
#include "transport/http_server/routes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"
#include "server/session/refusals.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

site::site(std::string bound_address, offer what) : bound_address_(std::move(bound_address)), offer_(what) {}

result<std::shared_ptr<const site>> site::make(std::string bound_address, offer what, const std::vector<std::string>& hosts,
                                               const std::vector<std::string>& origins) {
  auto made = std::make_shared<site>(std::move(bound_address), what);
  for (const auto& one : hosts) {
    auto host = uri::parse_host_port(one);
    if (!host) {
      return fail(errc::invalid_argument,
                  "Cannot allow the host \"" + one + "\": that is not a host. Write name, name:port, or [IPv6 address]:port.");
    }
    made->hosts_.push_back(std::move(*host));
  }
  for (const auto& one : origins) {
    auto origin = uri::parse_origin(one);
    if (!origin) {
      return fail(errc::invalid_argument,
                  "Cannot allow the origin \"" + one +
                      "\": that is not an origin. Write https://name or http://name:port, without a path.");
    }
    made->origins_.push_back(std::move(*origin));
  }
  return std::shared_ptr<const site>(std::move(made));
}

bool site::admits_host(std::string_view authority) const {
  if (names_this_machine(authority, bound_address_)) return true;
  if (hosts_.empty()) return false;
  const auto asked = uri::parse_host_port(authority);
  return asked && std::any_of(hosts_.begin(), hosts_.end(), [&asked](const uri::host_port& one) {
           return one.host == asked->host && (!one.port || one.port == asked->port);
         });
}

bool site::admits_origin(std::string_view origin, std::string_view authority) const {
  if (is_local_origin(origin, bound_address_)) return true;
  const auto page = uri::parse_origin(origin);
  if (!page) return false;
  if (std::find(origins_.begin(), origins_.end(), *page) != origins_.end()) return true;
  // A server behind a proxy does not know whether the page uses TLS, so a missing port may be that of either scheme.
  auto asked = uri::parse_host_port(authority);
  if (!asked) return false;
  if (!asked->port) asked->port = page->is_secure ? 443 : 80;
  return *asked == page->where;
}

namespace {

constexpr std::string_view mcp_methods = "GET, POST, DELETE, OPTIONS";
constexpr std::string_view pair_methods = "GET, OPTIONS";
constexpr std::string_view paired_message_methods = "POST, OPTIONS";
constexpr std::string_view not_events = "Not acceptable: a GET opens a stream of events. Send Accept: text/event-stream.";
constexpr std::string_view report_methods = "GET, HEAD, OPTIONS";

std::string allow(std::string_view methods) { return "Allow: " + std::string(methods) + "\r\n"; }

plain_answer refuse_in_words(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", std::string(text) + "\n", {}};
}

/// The target of a request.
struct destination {
  std::string_view authority;  ///< Set if the target is an absolute URL.
  std::string_view path;
  std::string_view query;  ///< Without the question mark.
};

/// Spec: RFC 9112 3.2.
destination read_target(std::string_view target) {
  destination out;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() <= scheme.size() || !ascii::is_same(target.substr(0, scheme.size()), scheme)) continue;
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

/// Rejects a request unless it is addressed to this server and does not come from a foreign page.
std::optional<plain_answer> refuse_stranger(const request_head& head, const destination& to, const site& at) {
  const auto host = head.find("Host");
  if (host.count != 1) return refuse(400, "Bad request: exactly one Host header is required.");
  if (!at.admits_host(host.first) || (!to.authority.empty() && !at.admits_host(to.authority))) {
    return refuse(403,
                  "Forbidden: the Host header does not name this machine. Use http://localhost or http://127.0.0.1 with the "
                  "port of this server, or a name that its operator lists with --host (hosts in its configuration).");
  }
  const auto origin = head.find("Origin");
  if (origin.count > 1 || (origin.count == 1 && !at.admits_origin(origin.first, host.first))) {
    return refuse(403,
                  "Forbidden: the Origin header names a page that this machine does not serve and the server's configuration "
                  "(origins) does not list.");
  }
  return std::nullopt;
}

/// The text in quotation marks, truncated. Characters that would end the quotation or the line are replaced.
std::string as_quoted(std::string_view named) {
  constexpr std::size_t longest_shown = 100;
  std::string out(named.substr(0, longest_shown));
  std::replace_if(out.begin(), out.end(), [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\'; }, '?');
  return '"' + out + '"';
}

/// The reason for the log, with the foreign name.
std::string why_strange(const request_head& head, const destination& to, const site& at) {
  const auto host = head.find("Host").first;
  const auto named = !at.admits_host(host) ? host : std::string_view(to.authority);
  if (!named.empty() && !at.admits_host(named))
    return "the Host " + as_quoted(named) + " is not a name of this server (--host)";
  return "the Origin " + as_quoted(head.find("Origin").first) + " is not allowed (--origin)";
}

/// The headers of a preflight that mirror a tool's parameters; their names depend on the tools.
std::string mirrored_parameters(const request_head& head) {
  constexpr std::string_view prefix = "mcp-param-";
  std::string out;
  for (auto rest = head.find("Access-Control-Request-Headers").first; !rest.empty();) {
    const auto comma = rest.find(',');
    auto name = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (is_token(name) && ascii::is_same(name.substr(0, prefix.size()), prefix)) out += ", " + std::string(name);
  }
  return out;
}

/// The answer to a CORS preflight. No authentication, because browsers send preflights without credentials. Spec: Fetch, CORS
/// protocol.
plain_answer preflight(const request_head& head, std::string_view methods, bool from_page) {
  plain_answer out{204, {}, {}, allow(methods)};
  if (!from_page) return out;
  out.fields += "Access-Control-Allow-Methods: " + std::string(methods) + "\r\n";
  out.fields +=
      "Access-Control-Allow-Headers: Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, "
      "Mcp-Name, Mcp-Session-Id" +
      mirrored_parameters(head) + "\r\n";
  out.fields += "Access-Control-Max-Age: 600\r\n";
  return out;
}

/// Rejects a request unless its body is a JSON message.
std::optional<plain_answer> refuse_content(const request_head& head) {
  const auto type = head.find("Content-Type");
  if (type.count != 1 || !is_json_content(type.first)) {
    return refuse(415, "Unsupported media type: send one JSON-RPC message as Content-Type: application/json, in UTF-8.");
  }
  const auto coding = head.find("Content-Encoding");
  if (coding.count > 1 || (coding.count == 1 && !ascii::is_same(coding.first, "identity"))) {
    return refuse(415, "Unsupported media type: send the message without Content-Encoding.");
  }
  const auto expectation = head.find("Expect");
  if (expectation.count > 1 || (expectation.count == 1 && !ascii::is_same(expectation.first, "100-continue"))) {
    return refuse(417, "Expectation failed: the only expectation understood is 100-continue.");
  }
  return std::nullopt;
}

/// Rejects a request unless its body is a JSON message, and it accepts one of our two answer formats.
std::optional<plain_answer> refuse_form(const request_head& head, rpc::http_headers& into) {
  if (auto refusal = refuse_content(head)) return refusal;
  const auto accept = head.all_of("Accept").value_or("");
  into.accepts_json = admits_json(accept);
  into.accepts_stream = admits_events(accept);
  if (!into.accepts_json && !into.accepts_stream) {
    return refuse(406,
                  "Not acceptable: this server answers with application/json or text/event-stream. Send Accept: "
                  "application/json, text/event-stream.");
  }
  return std::nullopt;
}

/// Parses the header fields that mirror the message. A repeated field is malformed, since two parsers could choose different
/// values.
std::optional<plain_answer> read_headers(const request_head& head, rpc::http_headers& into) {
  using target = std::optional<std::string> rpc::http_headers::*;
  constexpr std::array<std::pair<std::string_view, target>, 5> mirrored{{
      {"MCP-Protocol-Version", &rpc::http_headers::protocol_version},
      {"Mcp-Method", &rpc::http_headers::method},
      {"Mcp-Name", &rpc::http_headers::name},
      {"Mcp-Session-Id", &rpc::http_headers::session_id},
      {"Last-Event-ID", &rpc::http_headers::last_event_id},
  }};
  for (const auto& [name, member] : mirrored) {
    const auto found = head.find(name);
    if (found.count > 1) return refuse(400, "Bad request: the header " + std::string(name) + " occurs more than once.");
    if (found.count == 1) into.*member = std::string(found.first);
  }
  constexpr std::string_view prefix = "Mcp-Param-";
  for (const auto& one : head.fields) {
    if (one.name.size() <= prefix.size() || !ascii::is_same(one.name.substr(0, prefix.size()), prefix)) continue;
    if (head.find(one.name).count > 1) {
      return refuse(400, "Bad request: the header " + std::string(one.name) + " occurs more than once.");
    }
    into.arguments.emplace_back(std::string(one.name.substr(prefix.size())), std::string(one.value));
  }
  return std::nullopt;
}

void decide_mcp(const request_head& head, verdict& out) {
  if (auto repeated = read_headers(head, out.headers)) {
    out.answer = std::move(*repeated);
  } else if (head.method == "POST") {
    if (auto refusal = refuse_form(head, out.headers)) {
      out.answer = std::move(*refusal);
    } else {
      out.what = verdict::kind::message;
    }
  } else if (head.method == "DELETE") {
    out.what = verdict::kind::leave;
  } else if (head.method != "GET") {
    out.answer =
        refuse(405, "Method not allowed: send messages by POST, open the stream of a session by GET, end it by DELETE.");
    out.answer.fields = allow(mcp_methods);
  } else if (!admits_events(head.all_of("Accept").value_or(""))) {
    out.answer = {406, "application/json", session::error_text(406, not_events, out.headers), {}};
  } else {
    out.what = verdict::kind::stream;
  }
}

/// Routes the transport of the oldest revision: `/sse` opens the stream, whose first event contains `/message` with the id of a
/// session. Spec: 2024-11-05 basic/transports#http-with-sse.
void decide_pair(const request_head& head, verdict& out) {
  if (head.method != "GET") {
    out.answer = refuse(405, "Method not allowed: open this stream by GET. Clients of newer revisions use /mcp.");
    out.answer.fields = allow(pair_methods);
  } else if (!admits_events(head.all_of("Accept").value_or(""))) {
    out.answer = refuse(406, not_events);
  } else {
    out.what = verdict::kind::pair;
  }
}

void decide_paired_message(const request_head& head, std::string_view query, verdict& out) {
  constexpr std::string_view parameter = "sessionId=";
  if (head.method != "POST") {
    out.answer = refuse(405, "Method not allowed: send messages by POST.");
    out.answer.fields = allow(paired_message_methods);
  } else if (auto refusal = refuse_content(head)) {
    out.answer = std::move(*refusal);
  } else if (!query.starts_with(parameter)) {
    out.answer = refuse(400, "Bad request: the session is missing. Send messages to the address that the /sse stream gives.");
  } else {
    out.headers.session_id = std::string(query.substr(parameter.size()));
    out.what = verdict::kind::paired_message;
  }
}

/// Routes reports, which have the usual names of Kubernetes, and metadata, which needs no token.
void decide_report(const request_head& head, verdict::kind which, verdict& out) {
  if (head.method == "OPTIONS") {
    out.answer = preflight(head, report_methods, !out.allowed_origin.empty());
  } else if (head.method == "GET" || head.method == "HEAD") {
    out.what = which;
  } else {
    out.answer = refuse_in_words(405, "Method not allowed: use GET.");
    out.answer.fields = allow(report_methods);
  }
}

/// The methods of a path for messages; empty for other paths.
std::string_view methods_of(std::string_view path) {
  if (path == "/mcp") return mcp_methods;
  if (path == "/sse") return pair_methods;
  if (path == "/message") return paired_message_methods;
  return {};
}

/// Whether a query contains a token. Spec: basic/authorization#token-requirements (2), RFC 6750 section 2.3.
bool names_a_token(std::string_view query) {
  while (!query.empty()) {
    const auto name = percent_decode(uri::take_parameter(query).name);
    if (name && *name == "access_token") return true;
  }
  return false;
}

}  // namespace

verdict decide(const request_head& head, const site& at) {
  verdict out;
  const auto to = read_target(head.target);
  if (auto refusal = refuse_stranger(head, to, at)) {
    out.answer = std::move(*refusal);
    if (out.answer.status == 403) out.stranger = why_strange(head, to, at);
    return out;
  }
  out.allowed_origin = head.find("Origin").first;
  if (const auto methods = at.offers_messages() ? methods_of(to.path) : std::string_view(); !methods.empty()) {
    if (head.method == "OPTIONS") {
      out.answer = preflight(head, methods, !out.allowed_origin.empty());
      return out;
    }
    out.is_guarded = true;
    out.has_token_in_target = names_a_token(to.query);
    out.asked_about = to.path == "/mcp" ? "/mcp" : "/sse";
    if (to.path == "/mcp") {
      decide_mcp(head, out);
    } else if (to.path == "/sse") {
      decide_pair(head, out);
    } else {
      decide_paired_message(head, to.query, out);
    }
  } else if (at.offers_messages() && to.path.starts_with(metadata_path)) {
    out.asked_about = to.path.substr(metadata_path.size());
    decide_report(head, verdict::kind::metadata, out);
  } else if (at.offers_messages() && to.path.starts_with(notices_path)) {
    // Other methods get the same answer as an unknown path, so that it stays unknown which sources take notices.
    if (head.method == "POST") {
      out.what = verdict::kind::notice;
      out.asked_about = to.path.substr(notices_path.size());
    } else {
      out.answer = not_found(at);
    }
  } else if (at.offers_reports() && to.path == "/healthz") {
    decide_report(head, verdict::kind::health, out);
  } else if (at.offers_reports() && to.path == "/readyz") {
    decide_report(head, verdict::kind::ready, out);
  } else if (at.offers_reports() && to.path == "/metrics") {
    decide_report(head, verdict::kind::metrics, out);
    // At an address for messages, metrics require the same authentication as messages: they show the load of the server.
    out.is_guarded = at.offers_messages() && out.what == verdict::kind::metrics;
    out.has_token_in_target = out.is_guarded && names_a_token(to.query);
    out.asked_about = "/mcp";
  } else {
    out.answer = not_found(at);
  }
  return out;
}

plain_answer not_found(const site& at) {
  return refuse_in_words(
      404, at.offers_messages()
               ? "Not found. The MCP endpoint of this server is /mcp."
               : "Not found. This address serves only /healthz, /readyz and /metrics; the MCP endpoint has another address.");
}

plain_answer refuse(int status, std::string_view text) {
  return {status, "application/json", session::error_text(status, text), {}};
}

}  // namespace hondana::transport::http_server
