/// Decides from a request's head alone who may ask, for what, and in which form.
#include "transport/http/routes.hpp"

#include <array>
#include <optional>
#include <utility>

#include "json/writer.hpp"
#include "transport/http/field_values.hpp"

namespace hondana::transport::http {
namespace {

constexpr int invalid_request = -32600;
constexpr int internal_error = -32603;

constexpr std::string_view mcp_methods = "POST, OPTIONS";
constexpr std::string_view health_methods = "GET, HEAD, OPTIONS";

std::string allow(std::string_view methods) { return "Allow: " + std::string(methods) + "\r\n"; }

plain_answer refuse_in_words(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", std::string(text) + "\n", {}};
}

/// Where a request goes, with the authority it names besides Host.
struct destination {
  std::string_view authority;  ///< Set in the absolute form.
  std::string_view path;
};

/// Spec: RFC 9112 3.2.
destination read_target(std::string_view target) {
  destination out;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() <= scheme.size() || !same_token(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const auto end = target.find_first_of("/?");
    out.authority = target.substr(0, end);
    target = end == std::string_view::npos ? std::string_view("/") : target.substr(end);
    break;
  }
  out.path = target.substr(0, target.find('?'));
  return out;
}

/// Who asks: refused unless the request is addressed to this machine and comes from no foreign page.
std::optional<plain_answer> refuse_stranger(const request_head& head, const destination& to, std::string_view bound_address) {
  const auto host = head.find("Host");
  if (host.count != 1) return refuse(400, "Bad request: exactly one Host header is required.");
  if (!names_this_machine(host.first, bound_address) ||
      (!to.authority.empty() && !names_this_machine(to.authority, bound_address))) {
    return refuse(403,
                  "Forbidden: the Host header does not name this machine. Use http://localhost or http://127.0.0.1 with "
                  "the port of this server.");
  }
  const auto origin = head.find("Origin");
  if (origin.count > 1 || (origin.count == 1 && !is_local_origin(origin.first, bound_address))) {
    return refuse(403, "Forbidden: the Origin header names a page that is not served by this machine.");
  }
  return std::nullopt;
}

plain_answer preflight(std::string_view methods, bool from_page) {
  plain_answer out{204, {}, {}, allow(methods)};
  if (!from_page) return out;
  out.fields += "Access-Control-Allow-Methods: " + std::string(methods) + "\r\n";
  out.fields +=
      "Access-Control-Allow-Headers: Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, "
      "Mcp-Name, Mcp-Session-Id\r\n";
  out.fields += "Access-Control-Max-Age: 600\r\n";
  return out;
}

/// In which form: refused unless a JSON message comes and a JSON answer is welcome.
std::optional<plain_answer> refuse_form(const request_head& head) {
  const auto type = head.find("Content-Type");
  if (type.count != 1 || !is_json_content(type.first)) {
    return refuse(415, "Unsupported media type: send one JSON-RPC message as Content-Type: application/json, in UTF-8.");
  }
  const auto coding = head.find("Content-Encoding");
  if (coding.count > 1 || (coding.count == 1 && !same_token(coding.first, "identity"))) {
    return refuse(415, "Unsupported media type: send the message without Content-Encoding.");
  }
  std::string accept;
  for (const auto& one : head.fields) {
    if (!same_token(one.name, "Accept")) continue;
    if (!accept.empty()) accept += ',';
    accept += one.value;
  }
  if (!admits_json(accept)) {
    return refuse(406,
                  "Not acceptable: this server answers with application/json. Send Accept: application/json, "
                  "text/event-stream.");
  }
  const auto expectation = head.find("Expect");
  if (expectation.count > 1 || (expectation.count == 1 && !same_token(expectation.first, "100-continue"))) {
    return refuse(417, "Expectation failed: the only expectation understood is 100-continue.");
  }
  return std::nullopt;
}

/// The fields the protocol mirrors; a repeated one is malformed, since two readers could choose differently.
std::optional<plain_answer> read_headers(const request_head& head, rpc::http_headers& into) {
  using target = std::optional<std::string> rpc::http_headers::*;
  constexpr std::array<std::pair<std::string_view, target>, 3> mirrored{{
      {"MCP-Protocol-Version", &rpc::http_headers::protocol_version},
      {"Mcp-Method", &rpc::http_headers::method},
      {"Mcp-Name", &rpc::http_headers::name},
  }};
  for (const auto& [name, member] : mirrored) {
    const auto found = head.find(name);
    if (found.count > 1) return refuse(400, "Bad request: the header " + std::string(name) + " is there more than once.");
    if (found.count == 1) into.*member = std::string(found.first);
  }
  return std::nullopt;
}

void decide_mcp(const request_head& head, verdict& out) {
  if (head.method == "OPTIONS") {
    out.answer = preflight(mcp_methods, !out.allowed_origin.empty());
    return;
  }
  if (head.method != "POST") {
    const bool wants_stream = head.method == "GET" || head.method == "DELETE";
    out.answer = refuse(405, wants_stream ? "Method not allowed: this server offers no stream and no session; it answers each "
                                            "POST to /mcp with JSON."
                                          : "Method not allowed: send messages by POST.");
    out.answer.fields = allow(mcp_methods);
    return;
  }
  if (auto refusal = refuse_form(head)) {
    out.answer = std::move(*refusal);
  } else if (auto repeated = read_headers(head, out.headers)) {
    out.answer = std::move(*repeated);
  } else {
    out.what = verdict::kind::message;
  }
}

void decide_health(const request_head& head, verdict& out) {
  if (head.method == "OPTIONS") {
    out.answer = preflight(health_methods, !out.allowed_origin.empty());
  } else if (head.method == "GET" || head.method == "HEAD") {
    out.what = verdict::kind::health;
  } else {
    out.answer = refuse_in_words(405, "Method not allowed: ask /healthz by GET.");
    out.answer.fields = allow(health_methods);
  }
}

}  // namespace

verdict decide(const request_head& head, std::string_view bound_address) {
  verdict out;
  const auto to = read_target(head.target);
  if (auto refusal = refuse_stranger(head, to, bound_address)) {
    out.answer = std::move(*refusal);
    return out;
  }
  out.allowed_origin = head.find("Origin").first;
  if (to.path == "/mcp") {
    decide_mcp(head, out);
  } else if (to.path == "/healthz") {
    decide_health(head, out);
  } else {
    out.answer = refuse_in_words(404, "Not found. The MCP endpoint of this server is /mcp.");
  }
  return out;
}

plain_answer refuse(int status, std::string_view text) {
  plain_answer out{status, "application/json", {}, {}};
  json::writer to(out.content);
  to.begin_object().member("jsonrpc", "2.0").key("error").begin_object();
  to.key("code").integer(status < 500 ? invalid_request : internal_error).member("message", text);
  to.end_object().end_object();
  return out;
}

}  // namespace hondana::transport::http
