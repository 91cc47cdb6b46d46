/// Sends requests with small answers, such as those to authorization servers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::transport::http_client {

struct small_request {
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<std::string> body{};   ///< If set, the request is a POST; `headers` must contain its Content-Type.
  std::size_t max_bytes = 256u << 10;  ///< Limit of the answer.
  std::chrono::milliseconds timeout{10'000};
};

struct small_response {
  int status = 0;
  std::string media_type{};  ///< In lower case, without parameters.
  std::string body{};
  std::vector<std::string> challenges{};          ///< `WWW-Authenticate`, one element for each field.
  std::optional<std::chrono::seconds> max_age{};  ///< How long the answer may be cached, see `parse_max_age`.
};

/// Which hosts requests may reach, and with which proxy and certificates.
struct call_policy {
  /// Hosts that may be on private networks, spelled as by `host_of`. Plain `http:` is allowed only for these, and only at
  /// loopback addresses.
  std::vector<std::string> trusted_hosts{};
  std::string ca_file{};  ///< A PEM file of certificates to trust instead of the system's.
  std::string proxy{};    ///< See `fetch_limits::proxy`. Not used for plain `http:`.
  /// If `proxy` is empty, use https_proxy and no_proxy of the environment.
  bool uses_environment_proxy = false;
  std::string certificate_file{};    ///< A PEM file with the client certificate, sent to `certificate_origin` only.
  std::string key_file{};            ///< A PEM file with its key; empty: it is in the same file.
  std::string certificate_origin{};  ///< An origin, see `origin_of`.
};

/// Returns the host of a URL in lower case, without port; empty unless it is an http or https URL.
[[nodiscard]] std::string host_of(const std::string& url);

/// Returns the proxy that the environment (https_proxy, all_proxy, no_proxy) sets for `https:` to `host`; empty: none. `host`:
/// in lower case.
[[nodiscard]] std::string environment_proxy(std::string_view host);

/// Whether the URL's host is a name of this machine: localhost or a name below it, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_local_url(const std::string& url);

/// Sends one request and returns the answer, with any status, also a redirect. A host that `policy` does not list is reached
/// only by `https:` and at public addresses (see public_address.hpp). Addresses are checked when the socket is opened. Does not
/// request compression. Threads: any; blocks.
///
/// Errors: invalid_argument for a URL that is not allowed or has a user name, or for invalid header fields; access_denied for a
/// forbidden address. Also response_too_large, timed_out, cancelled, source_unavailable and protocol_error. No error text
/// contains the query, a header's value or the body.
[[nodiscard]] result<small_response> call_guarded(const small_request& request, const call_policy& policy,
                                                  const std::stop_token& stop);

/// `call_guarded` with a fixed policy; tests replace it.
using small_request_function = std::function<result<small_response>(const small_request& request, const std::stop_token& stop)>;

}  // namespace hondana::transport::http_client
