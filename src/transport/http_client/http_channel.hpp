/// Makes channels to servers with a URL.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport::http_client {

/// Makes a channel of kind "http" (Streamable HTTP), for all revisions. Each message is a POST, whose response contains the
/// answer and related messages. At most 32 requests are pending at the server, not counting subscriptions; the others wait.
///
/// `on_connection_lost` is called if the server ended the session, or if the stream for its own messages cannot be reopened.
/// The session is then forgotten, and pending calls end. A failed connection ends only its own call.
///
/// `listener` must outlive the channel. `log` gets errors that no callback reports, on the channel's thread; it may be null.
/// Errors: those of `check_target`; source_unavailable if no thread can be started. Spec: basic/transports#streamable-http.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_http(const http_target& target,
                                                                  channel::channel_listener& listener,
                                                                  const channel::limits& limits,
                                                                  std::function<void(std::string_view)> log);

/// Makes a channel of kind "http+sse", for revision 2024-11-05. The first `send` opens one stream, which contains all messages
/// of the server. Its `endpoint` event contains the URL for POST requests. A failed POST ends its call; the end of the stream
/// calls `on_connection_lost`. Parameters and errors: as for `make_http`. Spec: 2024-11-05 basic/transports#http-with-sse.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_http_sse(const http_target& target,
                                                                      channel::channel_listener& listener,
                                                                      const channel::limits& limits,
                                                                      std::function<void(std::string_view)> log);

}  // namespace hondana::transport::http_client
