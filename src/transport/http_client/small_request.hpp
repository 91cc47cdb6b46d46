/// Requests with small answers, to authorization servers and what they publish.
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
  std::optional<std::string> body{};    ///< Set: it is POSTed; its Content-Type is among the headers.
  std::size_t most_bytes = 256u << 10;  ///< Of the answer.
  std::chrono::milliseconds time{10'000};
};

struct small_answer {
  int status = 0;
  std::string media_type{};  ///< In lower case, without parameters.
  std::string bytes{};
  std::vector<std::string> challenges{};          ///< `WWW-Authenticate`, one element a field.
  std::optional<std::chrono::seconds> max_age{};  ///< How long it may be kept, as it says itself.
};

/// Where requests may lead.
struct call_guard {
  /// Hosts, without ports, that somebody on our side has named, so that they may be on private networks. Plain `http:` is for
  /// those only, and only where their address is loopback.
  std::vector<std::string> hosts{};
  std::string authorities{};  ///< A PEM file of certificates to trust instead of the system's.
  std::string proxy{};        ///< As `fetch_limits::proxy`.
  /// Without a proxy of its own: what https_proxy and no_proxy say.
  bool uses_environment = false;
  std::string certificate{};  ///< A PEM file, shown to `shown_to` only.
  std::string key{};          ///< A PEM file with its key; empty: it is in the same file.
  std::string shown_to{};     ///< As `origin_of`.
};

/// The host of a URL in lower case, for `call_guard::hosts`; empty for what is no http or https URL.
[[nodiscard]] std::string host_of(const std::string& url);

/// The proxy that the environment (https_proxy, all_proxy, no_proxy) has for `https:` to this host in lower case; empty: none.
[[nodiscard]] std::string environment_proxy(std::string_view host);

/// Whether a URL's host is this machine by its name: localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_on_this_machine(const std::string& url);

/// GETs, or POSTs what `what` has. A host that is not among the guard's is reached by `https:` at public addresses only (see
/// public_address.hpp), looked at when the socket is opened. No redirect is followed: it is the answer. Compression is not
/// asked for.
///
/// Errors: invalid_argument for a URL that is not allowed or has a user name, and for header fields that would be more than a
/// line; access_denied for an address that is not allowed; response_too_large; timed_out; cancelled; source_unavailable;
/// broken_protocol. None of them holds the query of the URL, a header or the body. Threads: any; blocks.
[[nodiscard]] result<small_answer> call_guarded(const small_request& what, const call_guard& under,
                                                const std::stop_token& stop);

/// The same with the guard bound to it; what tests put in its place.
using small_caller = std::function<result<small_answer>(const small_request& what, const std::stop_token& stop)>;

}  // namespace hondana::transport::http_client
