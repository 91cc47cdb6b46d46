/// Sends requests with small answers, such as those to authorization servers.
#include "transport/http_client/small_request.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "transport/http_client/blocking_connection.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/public_address.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr std::chrono::seconds max_connect_time{10};
constexpr const char* not_public_reason =
    "it resolves to this machine or a private network, where only hosts in the configuration are called";
constexpr const char* not_loopback_reason = "plain http: is allowed on this machine only; use https:";

/// The host of an origin, see `origin_of`.
std::string origin_host(std::string_view origin) {
  auto host = origin.substr(origin.find("://") + 3);
  host = host.substr(0, host.rfind(':'));
  while (host.ends_with('.')) host.remove_suffix(1);
  return std::string(host);
}

}  // namespace

std::string host_of(const std::string& url) {
  const auto origin = origin_of(url);
  return origin ? origin_host(*origin) : std::string();
}

bool is_local_url(const std::string& url) {
  const auto host = host_of(url);
  if (host == "localhost" || host.ends_with(".localhost") || host == "[::1]") return true;
  return host.starts_with("127.") &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::string environment_proxy(std::string_view host) {
  const auto first_set = [](std::initializer_list<const char*> names) {
    for (const auto* name : names) {
      if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return std::string(value);
    }
    return std::string();
  };
  const auto exclusions = ascii::to_lower(first_set({"no_proxy", "NO_PROXY"}));
  for (std::string_view remaining = exclusions; !remaining.empty();) {
    auto pattern = remaining.substr(0, remaining.find_first_of(", "));
    remaining.remove_prefix(std::min(pattern.size() + 1, remaining.size()));
    while (pattern.starts_with('.')) pattern.remove_prefix(1);
    if (pattern == "*" || pattern == host) return {};
    if (!pattern.empty() && host.ends_with(pattern) && host[host.size() - pattern.size() - 1] == '.') return {};
  }
  return first_set({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
}

result<small_response> call_guarded(const small_request& request, const call_policy& policy, const std::stop_token& stop) {
  const auto action = "cannot call " + display_url(request.url);
  const auto cannot_call = [&action](errc code, const std::string& reason) { return fail(code, action + ": " + reason); };
  HONDANA_TRY(loaded_curl());
  const auto origin = origin_of(request.url);
  if (!origin) return cannot_call(errc::invalid_argument, "it is not an https: URL");
  if (has_credentials(request.url)) return cannot_call(errc::invalid_argument, "it contains a user name or password");
  const auto host = origin_host(*origin);
  const bool is_trusted =
      std::any_of(policy.trusted_hosts.begin(), policy.trusted_hosts.end(),
                  [&host](const std::string& trusted_host) { return ascii::to_lower(trusted_host) == host; });
  const bool is_plaintext = origin->starts_with("http://");
  if (is_plaintext && !is_trusted) return cannot_call(errc::invalid_argument, "it is not an https: URL");
  // For an untrusted host, a proxy of the environment must be known here, because addresses are checked only without a proxy.
  const auto proxy =
      policy.proxy.empty() && policy.uses_environment_proxy && !is_trusted ? environment_proxy(host) : policy.proxy;
  if (!is_trusted && !proxy.empty() && is_private_origin(*origin)) return cannot_call(errc::access_denied, not_public_reason);

  request_rules rules;
  rules.schemes = is_plaintext ? "http" : "https";
  rules.rejection_reason = is_plaintext ? not_loopback_reason : not_public_reason;
  // For plain http:, a proxy would resolve the name on another machine.
  rules.target.proxy = is_plaintext ? std::string() : proxy;
  if (policy.uses_environment_proxy && is_trusted && rules.target.proxy->empty() && !is_plaintext) rules.target.proxy.reset();
  rules.target.connect_timeout = std::min<std::chrono::milliseconds>(max_connect_time, request.timeout);
  rules.target.tls.ca_file = policy.ca_file;
  if (*origin == policy.certificate_origin) {
    rules.target.tls.certificate_file = policy.certificate_file;
    rules.target.tls.key_file = policy.key_file.empty() ? policy.certificate_file : policy.key_file;
  }
  if (is_plaintext) {
    rules.allows_address = [](const sockaddr& address) { return is_loopback(address); };
  } else if (!is_trusted && proxy.empty()) {
    rules.allows_address = is_public;
  }
  blocking_connection::message message{.action = action, .url = request.url, .body = request.body};
  for (const auto& [name, value] : request.headers) {
    HONDANA_TRY(auto line, header_line(name, value));
    message.header_lines.push_back(std::move(line));
  }

  small_response out;
  bool is_too_long = false;
  const auto append_body = [&](const response_head&, std::string_view bytes) {
    is_too_long = out.body.size() + bytes.size() > request.max_bytes;
    if (!is_too_long) out.body += bytes;
    return !is_too_long;
  };
  HONDANA_TRY(const auto connection, blocking_connection::make());
  HONDANA_TRY(const auto head,
              connection->perform(rules, message, append_body, blocking_connection::clock::now() + request.timeout, stop));
  if (is_too_long)
    return cannot_call(errc::response_too_large, "the answer is longer than " + std::to_string(request.max_bytes) + " bytes");
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return cannot_call(errc::protocol_error, "the answer is compressed, which was not requested");
  out.status = head.status;
  out.media_type = head.media_type();
  out.challenges = head.challenges;
  out.max_age = parse_max_age(head.cache_control);
  return out;
}

}  // namespace hondana::transport::http_client
