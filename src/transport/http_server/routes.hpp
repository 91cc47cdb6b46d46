/// Routes requests by their head alone: path, host, origin, method and accepted forms.
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

/// Immutable and shared by the connections of one listening socket. Threads: any.
class site {
 public:
  enum class offer {
    everything,  ///< Messages and reports.
    messages,    ///< The reports have an address of their own.
    reports,     ///< Health and readiness only.
  };
  /// `bound_address`: the literal address listened on, or empty when there is none (a Unix socket, all addresses).
  explicit site(std::string bound_address, offer what = offer::everything);
  /// With further hosts (`name` at any port, `name:port` at that one) and the origins of pages. Errors: invalid_argument,
  /// naming the malformed one.
  [[nodiscard]] static result<std::shared_ptr<const site>> make(std::string bound_address, offer what,
                                                                const std::vector<std::string>& hosts,
                                                                const std::vector<std::string>& origins);

  /// Whether `host[:port]` is loopback by name or literal, the bound address, or configured.
  /// Spec: basic/transports#security-warning (DNS rebinding).
  [[nodiscard]] bool admits_host(std::string_view authority) const;
  /// Whether a page of `origin` may ask: one of this machine, of the very authority it asks (which was admitted before), or
  /// configured. `null` may not.
  [[nodiscard]] bool admits_origin(std::string_view origin, std::string_view authority) const;
  [[nodiscard]] bool offers_messages() const noexcept { return offer_ != offer::reports; }
  [[nodiscard]] bool offers_reports() const noexcept { return offer_ != offer::messages; }

 private:
  std::string bound_address_;
  offer offer_;
  std::vector<uri::host_port> hosts_;
  std::vector<uri::web_origin> origins_;
};

/// An answer that HTTP itself gives, without asking a session.
struct plain_answer {
  int status = 200;
  std::string_view content_type;  ///< Empty: there is no content.
  std::string content;
  std::string fields;  ///< Further header lines, each ending with CR LF.
  /// Cache-Control.
  std::string_view keeping = "no-store";
  bool is_last = false;  ///< The connection is of no more use, and ends behind it.
};

/// What is to be done with a request.
struct verdict {
  enum class kind {
    message,  ///< Read the body and hand it to a session with `headers`.
    stream,   ///< Send what a session has beside answers: GET.
    leave,    ///< End the session: DELETE.
    pair,     ///< Open a session whose every message goes out on the answer. Spec: 2024-11-05 basic/transports#http-with-sse.
    paired_message,  ///< Read the body and hand it to such a session.
    health,          ///< Report how the sources are doing.
    ready,           ///< Report whether requests should be sent here.
    metrics,         ///< Report the figures of the process.
    metadata,        ///< Send what clients may know before they have a token.
    notice,          ///< Hand the head to the source that `asked_about` names.
    answer,          ///< Send `answer`.
  };
  kind what = kind::answer;
  rpc::http_headers headers;
  plain_answer answer;
  std::string stranger;  ///< Why whoever asks is refused, for the log; empty: for another reason, or not.
  /// The page that may read the answer, for CORS; empty: none asked. A view into the head.
  std::string_view allowed_origin;
  bool is_guarded = false;           ///< Nothing of this happens before it is known who asks.
  bool has_token_in_target = false;  ///< Where every proxy's log has it.
  /// Of what is guarded, "/mcp" or "/sse", as metadata calls it. With `notice`: a name, which may be no source's. With
  /// `metadata`: the path that it is about; may be empty. A view into the head or a literal.
  std::string_view asked_about;
};

/// Where clients find out how to get a token; the path that they want to use stands behind it. Spec: RFC 9728 section 3.1.
inline constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource";

/// Where services that sources have asked for news send it; the name of the source stands behind it.
inline constexpr std::string_view notices_path = "/notify/";

/// `at`: where the request arrived. Spec: basic/transports#streamable-http; Host and Origin are checked first, on every route,
/// known or not, and whatever the revision.
[[nodiscard]] verdict decide(const request_head& head, const site& at);

/// What is told of paths that are not there.
[[nodiscard]] plain_answer not_found(const site& at);

/// A refusal as a JSON-RPC error without an id, for clients that show its text.
[[nodiscard]] plain_answer refuse(int status, std::string_view text);

}  // namespace hondana::transport::http_server
