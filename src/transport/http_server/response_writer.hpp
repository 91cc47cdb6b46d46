/// Writes the heads of HTTP answers, and frames server-sent events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/rpc/message_body.hpp"

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

/// What an event says of itself besides its data; what is empty is left out.
struct event_names {
  std::string_view event;
  std::string_view id;
};

/// One event with `data`. Spec: HTML, server-sent events#parsing-an-event-stream.
[[nodiscard]] std::string write_event(const event_names& names, std::string_view data);
/// The same, appended to `out`.
void append_event(std::string& out, const event_names& names, std::string_view data);
/// The same around a message that may have to be pulled; content is escaped and has no line breaks.
[[nodiscard]] rpc::body write_event(const event_names& names, rpc::body message);
/// Tells the client how long to wait before it comes back.
[[nodiscard]] std::string write_retry(std::chrono::milliseconds after);

/// A comment, which clients ignore and which keeps what lies between from taking the stream for dead.
inline constexpr std::string_view keep_alive_comment = ":\n\n";

}  // namespace hondana::transport::http_server
