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
  std::string password{};          ///< Empty: none. Logs and errors never contain it.
  std::string ca_file{};           ///< PEM file of certificate authorities for TLS. Empty: the system's.
  std::string certificate_file{};  ///< PEM file of a client certificate for TLS. Empty: none is sent.
  std::string key_file{};          ///< PEM file of the key of the client certificate. Set if and only if that is set.
  std::string prefix = "hondana";  ///< Of all Redis keys: letters, digits, `-`, `_`, `.` and `:`; 1 to 64 bytes.
  /// Maximum time to wait for a free connection, for a new connection, and for each reply. From 100 ms to 5 minutes.
  milliseconds timeout = std::chrono::seconds(5);
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};
/// Reads the password from the file `file` or the environment variable `variable`. Returns an empty text if both are empty.
/// Only this user may have access to the file (mode 0600, or 0640 for a service). Removes one final line end. Errors:
/// invalid_argument: both are given, or the password is empty; those of `disk::read_private`.
[[nodiscard]] result<std::string> read_redis_password(const std::string& file, const std::string& variable);
/// Checks the options, without connecting. Errors: invalid_argument, saying which option is malformed.
[[nodiscard]] result<void> validate(const redis_options& options);

/// Connects, and checks that the server is Redis 6.2 or newer. After a lost connection, the next call connects again. The
/// interrupted command is sent again if executing it twice is harmless, and fails otherwise.
///
/// Logs a warning if the server may lose acknowledged writes (`appendonly`, `appendfsync`, `maxmemory-policy`), or rejects
/// writes.
///
/// Errors: invalid_argument: the options or certificate files; timed_out; protocol_error; source_unavailable: no connection,
/// wrong credentials, a version that is too old, or an invalid certificate.
[[nodiscard]] result<std::shared_ptr<analysis_store>> open_redis(redis_options options);

}  // namespace hondana::analyses
