/// Writes the head of an HTTP answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::transport::http_server {

/// How the peer finds the end of an answer.
enum class framing {
  none,     ///< There is no content and no length: 204.
  length,   ///< Content-Length.
  chunked,  ///< Transfer-Encoding: chunked.
  close,    ///< The connection's end, for HTTP/1.0.
};

struct answer_head {
  int status = 200;
  framing how = framing::length;
  std::uint64_t content_length = 0;
  std::string_view content_type;          ///< Empty: none.
  std::string_view allowed_origin;        ///< For CORS; empty: none.
  std::string_view keeping = "no-store";  ///< Cache-Control, of what is no stream of events.
  std::string_view fields;                ///< Further lines, each ending with CR LF.
  bool is_events = false;                 ///< A stream of events, which must not be buffered on its way.
  bool closes = false;                    ///< The connection ends after this answer.
  bool is_http_1_0 = false;               ///< The peer must be told when the connection stays.
};

/// Appends status line and fields, with the empty line. Spec: RFC 9112; Date as RFC 9110 6.6.1 wants it.
void append(std::string& out, const answer_head& head);

/// The line that says when to ask again, in whole seconds.
[[nodiscard]] std::string retry_after(std::chrono::milliseconds wait);

/// Appends the line before a chunk of `size` bytes.
void append_chunk_size(std::string& out, std::size_t size);

}  // namespace hondana::transport::http_server
