/// Routes requests by their header alone: path, host, origin, method and accepted formats.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/web_url.hpp"
#include "protocol/rpc/message.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// What one listening socket serves, and for which hosts and origins. Immutable; its connections share it. Threads: any.
class site {
 public:
  enum class offer {
    everything,  ///< Messages and reports.
    messages,    ///< Messages only; reports have an address of their own.
    reports,     ///< Health, readiness and metrics only.
  };
  /// `bound_address`: see `listening_socket::bound_address`.
  explicit site(std::string bound_address, offer offered = offer::everything);
  /// Makes a site with additional hosts (`name` with any port, `name:port` with that port) and origins. Errors:
  /// invalid_argument, naming the malformed one.
  [[nodiscard]] static result<std::shared_ptr<const site>> make(std::string bound_address, offer offered,
                                                                const std::vector<std::string>& hosts,
                                                                const std::vector<std::string>& origins);

  /// Whether `authority` (`host[:port]`) is a loopback name or address, the bound address, or a configured host. Spec:
  /// basic/transports#security-warning (DNS rebinding).
  [[nodiscard]] bool allows_host(std::string_view authority) const;
  /// Whether a page of `origin` may send requests: a page of this machine, of `authority`, or of a configured origin. False for
  /// `null`. `authority`: the Host of the request, which the caller must have checked by `allows_host`.
  [[nodiscard]] bool allows_origin(std::string_view origin, std::string_view authority) const;
  [[nodiscard]] bool offers_messages() const noexcept { return offer_ != offer::reports; }
  [[nodiscard]] bool offers_reports() const noexcept { return offer_ != offer::messages; }

 private:
  std::string bound_address_;
  offer offer_;
  std::vector<uri::host_port> hosts_;
  std::vector<uri::web_origin> origins_;
};

/// An answer that is made without a session.
struct plain_response {
  int status = 200;
  std::string_view content_type;  ///< Empty: no content.
  std::string content;
  std::string fields;                           ///< Additional header lines, each ending with CR LF.
  std::string_view cache_control = "no-store";  ///< The value of Cache-Control.
  bool closes_connection = false;               ///< The connection closes after this answer.
};

/// How to handle a request.
struct route {
  enum class kind {
    message,      ///< Read the body and pass it to a session with `headers`.
    stream,       ///< Send the messages of a session that belong to no request: GET.
    end_session,  ///< End the session: DELETE.
    sse_stream,   ///< Open a session of HTTP+SSE (2024-11-05): the answer contains all of its messages.
    sse_message,  ///< Read the body and pass it to an HTTP+SSE session.
    health,       ///< Report the health of the sources.
    ready,        ///< Report whether the server accepts requests.
    metrics,      ///< Report the metrics of the process.
    metadata,     ///< Send the metadata that clients need before they have a token.
    webhook,      ///< Pass the header to the source that `subject` names.
    response,     ///< Send `response`.
  };
  kind type = kind::response;
  rpc::http_headers headers;
  plain_response response;       ///< With `kind::response`.
  std::string rejection_reason;  ///< Why Host or Origin was rejected, for the log; empty: they were not.
  /// The page that may read the answer, for CORS; empty: none. A view into the header.
  std::string_view allowed_origin;
  bool needs_authentication = false;  ///< The caller must be authenticated first.
  bool has_token_in_url = false;      ///< The URL contains a token, which proxies log.
  /// If `needs_authentication`: "/mcp" or "/sse", as in metadata. With `webhook`: the name of a source, which may not exist.
  /// With `metadata`: the path, which may be empty. A view into the header or a literal.
  std::string_view subject;
};

/// The path of the metadata from which clients learn how to get a token, followed by the path that they want to use. Spec: RFC
/// 9728 section 3.1.
inline constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource";

/// The path for webhooks of external services, followed by the name of the source.
inline constexpr std::string_view webhook_path = "/notify/";

/// Decides how to handle a request. `site`: what its listening socket serves. Checks Host and Origin first, for every path,
/// known or not, and in all revisions. `head` must outlive the result. Spec: basic/transports#streamable-http.
[[nodiscard]] route find_route(const request_head& head, const site& site);

/// Makes the answer (404) for unknown paths.
[[nodiscard]] plain_response not_found(const site& site);

/// Makes a rejection with a JSON-RPC error without id, for clients that show its text.
[[nodiscard]] plain_response error_response(int status, std::string_view text);

}  // namespace hondana::transport::http_server
