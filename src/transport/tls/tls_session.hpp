/// TLS of a server: the settings that connections share, and the session of one connection.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>
#include <hondana/tls.hpp>

#include "base/crypto/openssl.hpp"

namespace hondana::tls {

/// The roles of files, in error messages and `failure::subject`.
inline constexpr std::string_view certificate_role = "the certificate";
inline constexpr std::string_view key_role = "the key";
inline constexpr std::string_view client_authorities_role = "the client authorities";

/// The TLS settings of a server. Immutable. TLS 1.3, or 1.2 with ephemeral keys and authenticated encryption; no renegotiation,
/// no compression; ALPN: only http/1.1. Threads: any.
class context {
 public:
  /// Reads the files. Errors: invalid_argument, naming file and reason; source_unavailable if OpenSSL fails.
  [[nodiscard]] static result<std::shared_ptr<const context>> make(const tls_options& options);

  /// Problems that are not errors, such as an expired certificate; one line each.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// A text that differs if two contexts trust different client authorities; empty: clients are not asked for certificates.
  [[nodiscard]] const std::string& authorities() const noexcept { return authorities_; }
  /// Not const, because `SSL_new` requires that.
  [[nodiscard]] SSL_CTX* native() const noexcept { return native_.get(); }

 private:
  explicit context(SSL_CTX* handle) : native_(handle) {}
  [[nodiscard]] result<void> configure_protocol();
  [[nodiscard]] result<void> load_certificate(const tls_options& options);
  [[nodiscard]] result<void> configure_client_verification(const tls_options& options);

  std::unique_ptr<SSL_CTX, crypto::openssl_deleter<SSL_CTX_free>> native_;
  std::vector<std::string> warnings_;
  std::string authorities_;
};

/// The outcome of an operation on a connection.
enum class io_status : std::uint8_t {
  transferred,   ///< Bytes were read or written.
  wants_input,   ///< Retry when the socket is readable.
  wants_output,  ///< Retry when the socket is writable.
  closed,        ///< The peer has closed the TLS session or the connection.
  failed,        ///< The connection is unusable.
};

/// The outcome of one read or write, and the number of bytes.
struct io_result {
  io_status status = io_status::failed;
  std::size_t bytes = 0;
};

/// The server's side of one TLS connection over a non-blocking socket. The first `read` or `write` starts the handshake.
/// Threads: one at a time.
class session {
 public:
  /// Maximum size of one record. Bytes.
  static constexpr std::size_t max_record_bytes = 16u << 10;

  /// `socket` must outlive it. Null without memory.
  [[nodiscard]] static std::unique_ptr<session> make(const context& tls_context, int socket);

  /// Reads whole records, so that no data stays buffered here unnoticed by poll. `buffer` must have space for one record.
  [[nodiscard]] io_result read(std::span<char> buffer);
  /// Writes one record with the beginning of both texts, which must not both be empty. After `wants_input` or `wants_output`,
  /// the next call must pass the same bytes again.
  [[nodiscard]] io_result write(std::string_view first, std::string_view second);
  /// Tells the peer that no more data follows (close_notify). Returns `wants_output` if it must be called again; `closed` if it
  /// was sent or cannot be sent.
  [[nodiscard]] io_status send_close_notify();

  [[nodiscard]] bool is_handshake_done() const noexcept { return SSL_is_init_finished(native_.get()) == 1; }
  /// Whether the handshake failed because the peer sent a plain HTTP request. It got no answer.
  [[nodiscard]] bool received_plain_http() const noexcept { return received_plain_http_; }
  /// The peer's verified certificate, after the handshake. Empty: it sent none, or was not asked for one.
  [[nodiscard]] const std::optional<peer_certificate>& certificate();
  /// The earliest end of validity in the peer's certificate chain; empty if `certificate` is.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> certificate_expiry();
  /// Whether the client authorities of `current` accept the peer's certificate. True if there is none.
  [[nodiscard]] bool is_trusted_by(const context& current);

 private:
  explicit session(SSL* handle) : native_(handle) {}
  /// Returns why the last operation of OpenSSL did not succeed.
  [[nodiscard]] io_status error_status();

  std::unique_ptr<SSL, crypto::openssl_deleter<SSL_free>> native_;
  std::optional<peer_certificate> certificate_;
  std::chrono::sys_seconds certificate_expiry_ = std::chrono::sys_seconds::max();
  bool has_read_certificate_ = false;  // `certificate` has been called after the handshake
  bool has_failed_ = false;
  bool has_sent_close_notify_ = false;
  bool received_plain_http_ = false;
};

}  // namespace hondana::tls
