/// The tables [http] and [http.tls]: addresses, limits and certificates of the HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>
#include <hondana/tls.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks `[http.tls]`, but does not open the files that it names. Errors: invalid_argument, "FILE:LINE:
/// http.tls.KEY: what was expected".
[[nodiscard]] result<tls_options> read_tls(section table);

/// The table `[http]`. Members without a comment are as in `http_options`.
struct http_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 7325;
  std::optional<std::string> socket_path;  ///< Absolute, or relative to the working directory.
  unsigned socket_mode = 0600;
  std::optional<std::string> socket_group;
  std::optional<std::string> admin_address;  ///< `ADDRESS:PORT`, or the absolute path of a Unix socket.
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  std::vector<std::string> trusted_proxies;  ///< As in `http_options`, but not validated yet.
  bool without_authentication = false;
  std::optional<tls_options> tls;  ///< Paths are absolute, or relative to the working directory.
  std::size_t max_body_bytes = http_options().max_body_bytes;
  std::size_t max_header_bytes = http_options().max_header_bytes;
  std::optional<std::size_t> max_connections;
  std::optional<std::size_t> max_connections_per_address;
  std::optional<std::size_t> max_sessions;
  std::optional<std::size_t> max_sessions_per_address;
  std::chrono::milliseconds header_timeout = http_options().header_timeout;
  std::chrono::milliseconds body_timeout = http_options().body_timeout;
  std::chrono::milliseconds keep_alive_timeout = http_options().keep_alive_timeout;
  std::chrono::milliseconds session_idle_timeout = http_options().session_idle_timeout;
  std::chrono::milliseconds drain_timeout{5'000};  ///< How long running requests may take when the server stops.
  std::optional<unsigned> threads;
  friend bool operator==(const http_settings&, const http_settings&) = default;
};

/// Reads and checks `[http]`. Does not check whether `without_authentication` or `hosts` are necessary, because the command
/// line may set them. Errors: invalid_argument, "FILE:LINE: http.KEY: what was expected".
[[nodiscard]] result<http_settings> read_http(section table);

}  // namespace hondana::config
