/// Channels to servers behind a URL.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport::http_client {

/// Streamable HTTP, in all revisions ("http"): each message is a POST of its own, whose exchange brings what the server has
/// to say about it. At most 32 requests are with the server at once, subscriptions not counted; the others wait.
///
/// `broken` means that the server has ended the session, or that the stream for what it sends by itself cannot be had again:
/// the session is then forgotten, and calls under way with it. Connections that fail end single calls only.
///
/// `hears` outlives the channel. `log` may be empty, and hears what cannot be told otherwise; threads: the channel's.
/// Errors: invalid_argument for a target that cannot be; source_unavailable when no thread can be had.
/// Spec: basic/transports#streamable-http.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_http(const http_target& target, channel::listener& hears,
                                                                  const channel::limits& most,
                                                                  std::function<void(std::string_view)> log);

/// HTTP with SSE, of revision 2024-11-05 ("http+sse"): one stream, opened by the first `send`, brings all messages of the
/// server, the first event saying where ours go. A POST that fails ends its call; the end of the stream is `broken`.
///
/// Otherwise as `make_http`. Spec: 2024-11-05 basic/transports#http-with-sse.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_http_sse(const http_target& target, channel::listener& hears,
                                                                      const channel::limits& most,
                                                                      std::function<void(std::string_view)> log);

}  // namespace hondana::transport::http_client
