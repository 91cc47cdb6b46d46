/// The store of analyses in Redis.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

struct redis_options {
  /// `redis://host:port/0`, `rediss://host:port/0` (TLS), or `unix:///path/of/socket`, with `?db=0`. Port 6379 and database 0
  /// unless given. A user name may stand in it (`redis://user@host`, `unix://user@/path`), a password must not.
  std::string url{};
  std::string password{};          ///< Empty: none. Never logged, and in no error.
  std::string authorities{};       ///< For TLS: a PEM file; empty: the system's.
  std::string certificate{};       ///< Of this client, a PEM file; empty: none is shown.
  std::string key{};               ///< Its key, a PEM file.
  std::string prefix = "hondana";  ///< Of all its keys: letters, digits, `-`, `_`, `.` and `:`; at most 64 bytes.
  milliseconds patience = std::chrono::seconds(5);  ///< For a connection, and for each answer.
  std::function<void(std::string_view)> log{};      ///< May be empty. Threads: any.
};
/// The password of a store: of the file, or the environment variable `variable`, or neither. The file is of this user alone
/// (0600, or 0640 of a service); one line end at its end is left out. Errors: invalid_argument; as `disk::read_private`.
[[nodiscard]] result<std::string> redis_password(const std::string& file, const std::string& variable);
/// Errors: invalid_argument, saying which part of options is malformed. Does not connect.
[[nodiscard]] result<void> check(const redis_options& what);

/// Connects and sees whether the server can keep it: 6.2 or newer. Once open, a server that goes away is connected to again
/// with the next call; what was being asked is asked again where that is certain to do no harm, and is an error otherwise.
///
/// A server that keeps no append-only file, or evicts keys by itself (`maxmemory-policy` other than `noeviction`), is said to
/// the log: what it acknowledges may be lost. Its clock is the server's.
///
/// Errors: invalid_argument; source_unavailable: cannot be connected to, wants other credentials, is too old, or its
/// certificate is not vouched for.
[[nodiscard]] result<std::shared_ptr<store>> open_redis(redis_options from);

}  // namespace hondana::analyses
