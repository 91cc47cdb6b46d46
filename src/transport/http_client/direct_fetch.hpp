/// Fetches an `https:` resource directly, without trusting who named it.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport::http_client {

struct fetch_limits {
  std::uint64_t bytes = 64u << 20;         ///< Of the content, kept or given away.
  std::chrono::milliseconds time{30'000};  ///< For the whole; with a sink, for each wait.
  std::chrono::milliseconds connect_time{10'000};
  /// The URL of a proxy. Addresses are then looked up and connected to by the proxy, whose business the rules for them are;
  /// literal ones are still refused. Empty: none, whatever the environment says.
  std::string proxy{};
};

struct fetched {
  std::string url{};           ///< Where it was in the end.
  std::string content_type{};  ///< As the server spelled it.
  std::string media_type{};    ///< In lower case, without parameters.
  std::string charset{};       ///< In lower case; empty: not said.
  std::string bytes{};         ///< Empty when they went to the sink.
  std::uint64_t size = 0;      ///< How many there were.
};

/// GETs `url`. Only `https:` without user names; certificates are checked; nothing of the caller's is sent. Each address that
/// a socket is opened to must be public (see public_address.hpp), whatever the name has been looked up to before, on each of at
/// most 5 redirects too. Compression is not asked for.
///
/// `sink`: takes the content as item 0; may be empty. Errors: invalid_argument for other URLs; access_denied for an address
/// that is not public; resource_not_found (404, 410); unauthorized (401, 403); response_too_large; timed_out; cancelled;
/// source_unavailable; broken_protocol; the sink's own. Threads: any; blocks.
/// Spec: server/resources#https.
[[nodiscard]] result<fetched> fetch_directly(const std::string& url, const fetch_limits& most,
                                             const channel::content_sink& sink, const std::stop_token& stop);

/// What tests put in the place of the Internet.
struct fetch_world {
  std::function<bool(const sockaddr&)> admits{};  ///< Instead of `is_public`.
  std::string authorities{};                      ///< A file of certificates to trust instead of the system's.
};
[[nodiscard]] result<fetched> fetch_directly(const std::string& url, const fetch_limits& most,
                                             const channel::content_sink& sink, const std::stop_token& stop,
                                             const fetch_world& world);

}  // namespace hondana::transport::http_client
