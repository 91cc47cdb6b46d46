/// Formats the headers of HTTP answers, and server-sent events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/rpc/message_body.hpp"

namespace hondana::transport::http_server {

/// How the peer recognizes the end of an answer.
enum class framing {
  none,     ///< No content and no length: 204.
  length,   ///< Content-Length.
  chunked,  ///< Transfer-Encoding: chunked.
  close,    ///< End of the connection, for HTTP/1.0.
};

/// Status and header fields of an answer.
struct response_head {
  int status = 200;
  framing body_framing = framing::length;
  std::uint64_t content_length = 0;             ///< For `framing::length`.
  std::string_view content_type;                ///< Empty: none.
  std::string_view allowed_origin;              ///< For CORS; empty: none.
  std::string_view cache_control = "no-store";  ///< Cache-Control, except for event streams.
  std::string_view fields;                      ///< Additional lines, each ending with CR LF.
  bool is_events = false;                       ///< An event stream, which proxies must not buffer.
  bool closes = false;                          ///< The connection closes after this answer.
  bool is_http_1_0 = false;                     ///< The client uses HTTP/1.0, where a connection that stays open is announced.
};

/// Appends status line, header fields and the empty line. Spec: RFC 9112; Date: RFC 9110 6.6.1.
void append_head(std::string& out, const response_head& head);

/// Returns the line `Retry-After` with CR LF. Rounds up to whole seconds, at least 1.
[[nodiscard]] std::string retry_after_line(std::chrono::milliseconds delay);

/// Appends the line before a chunk of `size` bytes.
void append_chunk_size(std::string& out, std::size_t size);

/// The name and id of an event; empty ones are left out.
struct event_names {
  std::string_view event;
  std::string_view id;
};

/// Returns one event with `data`. Spec: HTML, server-sent events#parsing-an-event-stream.
[[nodiscard]] std::string format_event(const event_names& names, std::string_view data);
/// Appends one event with `data` to `out`.
void append_event(std::string& out, const event_names& names, std::string_view data);
/// Returns one event with a message that may be read in pieces. The pieces must contain no line breaks.
[[nodiscard]] rpc::body format_event(const event_names& names, rpc::body message);
/// Returns the field of an event stream that sets the time that the client waits before it reconnects.
[[nodiscard]] std::string format_retry(std::chrono::milliseconds delay);

/// A comment of an event stream, which clients ignore. It keeps proxies from closing an idle stream.
inline constexpr std::string_view keep_alive_comment = ":\n\n";

}  // namespace hondana::transport::http_server
