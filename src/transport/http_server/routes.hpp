/// Decides from a request's head alone who may ask, for what, and in which form.
#pragma once

#include <string>
#include <string_view>

#include "protocol/rpc/facts.hpp"
#include "transport/http_server/request_head.hpp"
#include "transport/http_server/site.hpp"

namespace hondana::transport::http_server {

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
