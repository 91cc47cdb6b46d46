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
/// Creates a client context: TLS 1.2 or newer, with verification of the server's certificate. Errors: invalid_argument, naming
/// the file.
[[nodiscard]] result<tls_context> make_client_context(const redis_options& options);

/// Threads: one at a time. Every wait has a timeout.
class redis_connection {
 public:
  /// Connects, performs the TLS handshake, logs in, and selects the database. `tls`: null without TLS; must outlive the
  /// connection. Errors: source_unavailable.
  [[nodiscard]] static result<redis_connection> open(const redis_address& address, const redis_options& options, SSL_CTX* tls);

  /// Sends a command and waits for its reply, which may be an error reply. Errors: source_unavailable, timed_out,
  /// protocol_error. After an error the connection is unusable, and the command may have been executed (`was_sent`).
  [[nodiscard]] result<redis_reply> execute(std::span<const std::string_view> arguments,
                                            std::chrono::milliseconds extra_timeout = {});
  [[nodiscard]] result<redis_reply> execute(std::initializer_list<std::string_view> arguments) {
    return execute(std::span(arguments.begin(), arguments.size()));
  }

  /// Whether the last command may have reached the server.
  [[nodiscard]] bool was_sent() const noexcept { return was_sent_; }
  /// Whether the connection has received nothing since the last reply, in particular no close by the server.
  [[nodiscard]] bool is_reusable() const noexcept;

 private:
  using time_point = std::chrono::steady_clock::time_point;
  [[nodiscard]] result<void> connect(const redis_address& address, time_point deadline);
  [[nodiscard]] result<void> handshake(const redis_address& address, SSL_CTX* tls, time_point deadline);
  [[nodiscard]] result<void> authenticate(const redis_address& address, const redis_options& options);
  [[nodiscard]] result<void> send(std::string_view bytes, time_point deadline);
  [[nodiscard]] result<redis_reply> receive(time_point deadline);
  /// False on timeout.
  [[nodiscard]] bool wait(short events, time_point deadline) const;
  [[nodiscard]] tl::unexpected<failure> connection_lost(const std::string& detail) const;
  [[nodiscard]] tl::unexpected<failure> timed_out() const;

  std::string display_name_{};
  std::chrono::milliseconds timeout_{0};
  disk::handle socket_{};
  std::unique_ptr<SSL, crypto::openssl_deleter<SSL_free>> tls_{};
  reply_parser parser_{};
  bool was_sent_ = false;
};

/// Converts an error reply of the server. `server_name`: as `redis_address::display_name`.
[[nodiscard]] tl::unexpected<failure> server_failure(const std::string& server_name, const redis_reply& reply);

}  // namespace hondana::analyses
