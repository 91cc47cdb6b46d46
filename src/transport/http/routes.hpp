/// Decides from a request's head alone who may ask, for what, and in which form.
#pragma once

#include <string>
#include <string_view>

#include "rpc/facts.hpp"
#include "transport/http/request_head.hpp"

namespace hondana::transport::http {

/// An answer that HTTP itself gives, without asking a session.
struct plain_answer {
  int status = 200;
  std::string_view content_type;  ///< Empty: there is no content.
  std::string content;
  std::string fields;  ///< Further header lines, each ending with CR LF.
};

/// What is to be done with a request.
struct verdict {
  enum class kind {
    message,  ///< Read the body and hand it to a session with `headers`.
    health,   ///< Report how the sources are doing.
    answer,   ///< Send `answer`.
  };
  kind what = kind::answer;
  rpc::http_headers headers;
  plain_answer answer;
  /// The page that may read the answer, for CORS; empty: none asked. A view into the head.
  std::string_view allowed_origin;
};

/// `bound_address` is the literal address the server listens on.
/// Spec: basic/transports#streamable-http; Host is checked on every route, whatever the revision.
[[nodiscard]] verdict decide(const request_head& head, std::string_view bound_address);

/// A refusal as a JSON-RPC error without an id, for clients that show its text.
[[nodiscard]] plain_answer refuse(int status, std::string_view text);

}  // namespace hondana::transport::http
