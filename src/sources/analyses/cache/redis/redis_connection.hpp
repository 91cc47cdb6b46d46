/// One connection to a Redis server, with TLS and log-in.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/crypto/openssl.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/analyses/cache/redis/redis_address.hpp"
#include "sources/analyses/cache/redis/resp.hpp"

namespace hondana::analyses {

using tls_context = std::unique_ptr<SSL_CTX, crypto::openssl_deleter<SSL_CTX_free>>;

/// Creates a client context: TLS 1.2 or newer, with verification of the server's certificate. Reads the certificate files.
/// Errors: invalid_argument; those of `tls::pem_file`, naming the file.
[[nodiscard]] result<tls_context> make_client_context(const redis_options& options);

/// A connection to a Redis server. Threads: one at a time. Every wait has a timeout, except the lookup of the host name.
class redis_connection {
 public:
  /// Connects, performs the TLS handshake, logs in, and selects the database. `tls`: must outlive the connection; may be null
  /// without TLS. Errors: source_unavailable, timed_out, protocol_error; invalid_argument: the host name is invalid for TLS.
  [[nodiscard]] static result<redis_connection> open(const redis_address& address, const redis_options& options, SSL_CTX* tls);

  /// Sends a command and waits for its reply. If the server rejects the command, this is a reply (`redis_reply::is_error`), not
  /// an error. Waits for `redis_options::timeout` and `extra_timeout`. Errors: source_unavailable, timed_out, protocol_error.
  /// After an error, the connection is unusable. The server may have executed the command if `was_sent`.
  [[nodiscard]] result<redis_reply> execute(std::span<const std::string_view> arguments,
                                            std::chrono::milliseconds extra_timeout = {});
  [[nodiscard]] result<redis_reply> execute(std::initializer_list<std::string_view> arguments) {
    return execute(std::span(arguments.begin(), arguments.size()));
  }

  /// Whether at least a part of the last command was sent.
  [[nodiscard]] bool was_sent() const noexcept { return was_sent_; }
  /// False if the server has closed the connection, or has sent something after the last reply.
  [[nodiscard]] bool is_reusable() const noexcept;

 private:
  using time_point = std::chrono::steady_clock::time_point;
  [[nodiscard]] result<void> connect(const redis_address& address, time_point deadline);
  [[nodiscard]] result<void> handshake(const redis_address& address, SSL_CTX* tls, time_point deadline);
  [[nodiscard]] result<void> authenticate(const redis_address& address, const redis_options& options);
  [[nodiscard]] result<void> send(std::string_view bytes, time_point deadline);
  [[nodiscard]] result<redis_reply> receive(time_point deadline);
  /// Waits for events of `poll`. Returns false if the deadline passes. True does not mean that the connection is intact.
  [[nodiscard]] bool wait(short events, time_point deadline) const;
  [[nodiscard]] tl::unexpected<failure> connection_lost(const std::string& detail) const;
  [[nodiscard]] tl::unexpected<failure> timed_out() const;

  std::string display_name_{};  // of the server: `redis_address::display_name`
  std::chrono::milliseconds timeout_{0};
  disk::handle socket_{};
  std::unique_ptr<SSL, crypto::openssl_deleter<SSL_free>> tls_{};
  reply_parser parser_{};
  bool was_sent_ = false;
};

/// Converts an error reply of the server to source_unavailable. `server_name`: `redis_address::display_name`.
[[nodiscard]] tl::unexpected<failure> server_failure(const std::string& server_name, const redis_reply& reply);

}  // namespace hondana::analyses
