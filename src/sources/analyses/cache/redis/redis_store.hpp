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

/// The server, its credentials and the key prefix.
struct redis_options {
  /// `redis://host:port/0`, `rediss://host:port/0` (TLS), or `unix:///path/of/socket` with `?db=0`. Defaults: port 6379,
  /// database 0. The URL may contain a user name (`redis://user@host`, `unix://user@/path`), but no password.
  std::string url{};
  std::string password{};          ///< Empty: none. Never logged, and in no error.
  std::string ca_file{};           ///< For TLS: a PEM file; empty: the system's.
  std::string certificate_file{};  ///< Of this client, a PEM file; empty: none is sent.
  std::string key_file{};          ///< Its key, a PEM file.
  std::string prefix = "hondana";  ///< Of all its keys: letters, digits, `-`, `_`, `.` and `:`; at most 64 bytes.
  milliseconds timeout = std::chrono::seconds(5);  ///< Timeout of a connection attempt, and of each reply.
  std::function<void(std::string_view)> log{};     ///< May be empty. Threads: any.
};
/// Reads the password from the file, or from the environment variable `variable`; empty if neither is given. Only this user may
/// have access to the file (mode 0600, or 0640 for a service). One final line end is removed. Errors: invalid_argument; those
/// of `disk::read_private`.
[[nodiscard]] result<std::string> read_redis_password(const std::string& file, const std::string& variable);
/// Errors: invalid_argument, saying which option is malformed. Does not connect.
[[nodiscard]] result<void> validate(const redis_options& options);

/// Connects, and checks that the server is Redis 6.2 or newer. After a lost connection, the next call connects again. The
/// interrupted command is sent again if that is harmless, and fails otherwise.
///
/// Logs a warning if the server has no append-only file, or evicts keys (`maxmemory-policy` other than `noeviction`):
/// acknowledged writes may be lost. The store uses the server's clock.
///
/// Errors: invalid_argument; source_unavailable: no connection, wrong credentials, a version that is too old, or an invalid
/// certificate.
[[nodiscard]] result<std::shared_ptr<analysis_store>> open_redis(redis_options options);

}  // namespace hondana::analyses
