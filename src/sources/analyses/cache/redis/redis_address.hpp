/// Parses the URL of a Redis server.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/error.hpp>

#include "sources/analyses/cache/redis/redis_store.hpp"

namespace hondana::analyses {

/// A parsed Redis URL.
struct redis_address {
  std::string host{};  ///< A name, or an IP address without brackets. Empty: `socket_path` is set.
  std::uint16_t port = 6379;
  std::string socket_path{};  ///< Path of a Unix socket. Empty: `host` is set.
  bool uses_tls = false;
  std::string user{};  ///< Empty: none.
  int database = 0;
  std::string display_name{};  ///< For display: "Redis at host:6379". Contains no secrets.
};

/// Parses a URL in the form of `redis_options::url`. Errors: invalid_argument, also if the URL contains a password. Errors do
/// not quote the URL.
[[nodiscard]] result<redis_address> parse_redis_url(const std::string& url);

}  // namespace hondana::analyses
