/// Requests with small answers, for authorization servers and metadata.
#include "transport/http_client/small_request.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/guarded_request.hpp"
#include "transport/http_client/public_address.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr const char* not_public =
    "it resolves to this machine or a private network, where only hosts in the configuration are called";
constexpr const char* not_loopback = "plain http: is allowed on this machine only; use https:";

/// The host of an origin, see `origin_of`.
std::string host_in(std::string_view origin) {
  auto host = origin.substr(origin.find("://") + 3);
  host = host.substr(0, host.rfind(':'));
  while (host.ends_with('.')) host.remove_suffix(1);
  return std::string(host);
}

}  // namespace

std::string host_of(const std::string& url) {
  const auto origin = origin_of(url);
  return origin ? host_in(*origin) : std::string();
}

bool is_on_this_machine(const std::string& url) {
  const auto host = host_of(url);
  if (host == "localhost" || host.ends_with(".localhost") || host == "[::1]") return true;
  return host.starts_with("127.") &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::string environment_proxy(std::string_view host) {
  const auto first_of = [](std::initializer_list<const char*> names) {
    for (const auto* name : names) {
      if (const char* const set = std::getenv(name); set != nullptr && *set != '\0') return std::string(set);
    }
    return std::string();
  };
  const auto left_out = ascii::in_lower_case(first_of({"no_proxy", "NO_PROXY"}));
  for (std::string_view rest = left_out; !rest.empty();) {
    auto one = rest.substr(0, rest.find_first_of(", "));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    while (one.starts_with('.')) one.remove_prefix(1);
    if (one == "*" || one == host) return {};
    if (!one.empty() && host.ends_with(one) && host[host.size() - one.size() - 1] == '.') return {};
  }
  return first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
}

result<small_answer> call_guarded(const small_request& what, const call_guard& under, const std::stop_token& stop) {
  const auto cannot_ask = [&what](errc code, const std::string& why) {
    return fail(code, "cannot call " + shown(what.url) + ": " + why);
  };
  const auto origin = origin_of(what.url);
  if (!origin) return cannot_ask(errc::invalid_argument, "it is not an https: URL");
  if (has_credentials(what.url)) return cannot_ask(errc::invalid_argument, "it contains a user name or password");
  const auto host = host_in(*origin);
  const bool is_ours = std::any_of(under.hosts.begin(), under.hosts.end(),
                                   [&host](const std::string& one) { return ascii::in_lower_case(one) == host; });
  const bool is_plain = origin->starts_with("http://");
  if (is_plain && !is_ours) return cannot_ask(errc::invalid_argument, "it is not an https: URL");
  // For an untrusted host, a proxy of the environment must be known here, because addresses are checked only without a proxy.
  const auto proxy = under.proxy.empty() && under.uses_environment && !is_ours ? environment_proxy(host) : under.proxy;
  if (!is_ours && !proxy.empty() && leads_home(*origin)) return cannot_ask(errc::access_denied, not_public);

  guarded_request::rules rules{.doing = "call",
                               .schemes = is_plain ? "http" : "https",
                               .refusal = is_plain ? not_loopback : not_public,
                               .authorities = under.authorities,
                               // A proxy would resolve the name on another machine.
                               .proxy = is_plain ? std::string() : proxy,
                               .uses_environment = under.uses_environment && is_ours && !is_plain,
                               .time = what.time};
  rules.connect_time = std::min(rules.connect_time, what.time);
  if (*origin == under.shown_to) {
    rules.certificate = under.certificate;
    rules.key = under.key;
  }
  if (is_plain) {
    rules.admits = is_loopback;
  } else if (is_ours) {
    rules.admits = [](const sockaddr&) { return true; };
  }
  guarded_request::parts parts{what.url, {}, what.body};
  for (const auto& [name, value] : what.headers) {
    HONDANA_TRY(auto line, header_line(name, value));
    parts.header_lines.push_back(std::move(line));
  }

  small_answer out;
  bool is_too_long = false;
  const auto take = [&](std::string_view bytes) {
    is_too_long = out.bytes.size() + bytes.size() > what.most_bytes;
    if (!is_too_long) out.bytes += bytes;
    return !is_too_long;
  };
  guarded_request request(std::move(rules), take, stop);
  HONDANA_TRY(request.perform(parts));
  if (is_too_long)
    return cannot_ask(errc::response_too_large, "the answer is longer than " + std::to_string(what.most_bytes) + " bytes");
  const auto& head = request.head();
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return cannot_ask(errc::broken_protocol, "the answer is compressed, which was not requested");
  out.status = head.status;
  out.media_type = head.media_type();
  out.challenges = head.challenges;
  out.max_age = max_age_in(head.cache_control);
  return out;
}

}  // namespace hondana::transport::http_client
