/// The address of a Redis server, parsed from a URL, and its password.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/error.hpp>

#include "sources/analyses/cache/redis/redis_store.hpp"

namespace hondana::analyses {

struct redis_address {
  std::string host{};  ///< A name or an address without brackets; empty: `socket` holds.
  std::uint16_t port = 6379;
  std::string socket{};  ///< Path of a Unix socket.
  bool is_tls = false;
  std::string user{};
  int database = 0;
  std::string name{};  ///< For people: "Redis at host:6379". Nothing secret.
};

/// Errors: invalid_argument, also where a password stands in it; the URL is not quoted.
[[nodiscard]] result<redis_address> redis_address_of(const std::string& url);

}  // namespace hondana::analyses
