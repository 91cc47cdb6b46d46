/// Fetches an `https:` resource from a URL that is not trusted.
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
  std::uint64_t max_bytes = 64u << 20;        ///< Limit of the content, also with a sink.
  std::chrono::milliseconds timeout{30'000};  ///< Timeout of the whole fetch; with a sink, of each wait for more data.
  std::chrono::milliseconds total_timeout = std::chrono::hours(24 * 365);  ///< Timeout of the whole fetch, also with a sink.
  std::chrono::milliseconds connect_timeout{10'000};
  /// The URL of a proxy. Because it resolves names itself, only private addresses and local names in the URL are rejected then.
  /// Empty: no proxy, not even from the environment.
  std::string proxy{};
};

struct fetch_result {
  std::string url{};           ///< The final URL, after redirects.
  std::string content_type{};  ///< As sent by the server.
  std::string media_type{};    ///< In lower case, without parameters.
  std::string charset{};       ///< In lower case; empty: not specified.
  std::string body{};          ///< Empty if it went to the sink.
  std::uint64_t size = 0;      ///< Number of content bytes.
};

/// Sends GET to `url`, which must be `https:` without user name. Certificates are verified, and no credentials are sent. Each
/// address must be public (see public_address.hpp), also after each of at most 5 redirects. It is checked when the socket is
/// opened, so DNS rebinding has no effect. Does not request compression. Threads: any; blocks.
///
/// `sink`: receives the content as item 0; empty: it is returned. Errors: invalid_argument for other URLs; access_denied for an
/// address that is not public; resource_not_found (404, 410); unauthorized (401, 403). Also response_too_large, timed_out,
/// cancelled, source_unavailable, protocol_error and those of the sink. Spec: server/resources#https.
[[nodiscard]] result<fetch_result> fetch_directly(const std::string& url, const fetch_limits& limits,
                                                  const channel::content_sink& sink, const std::stop_token& stop);

/// Lets tests use servers on this machine.
struct fetch_environment {
  std::function<bool(const sockaddr&)> allows_address{};  ///< Replaces `is_public`.
  std::string ca_file{};                                  ///< A file of certificates to trust instead of the system's.
};
/// For tests: the same function with replacements.
[[nodiscard]] result<fetch_result> fetch_directly(const std::string& url, const fetch_limits& limits,
                                                  const channel::content_sink& sink, const std::stop_token& stop,
                                                  const fetch_environment& environment);

}  // namespace hondana::transport::http_client
