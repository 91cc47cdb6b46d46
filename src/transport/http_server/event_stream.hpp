/// Frames messages as server-sent events.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "protocol/rpc/body.hpp"

namespace hondana::transport::http_server {

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
