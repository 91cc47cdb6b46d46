/// The server's side of TLS: the context that connections share, and one connection.
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

/// Roles of files, as errors name them and say them in `failure::about`.
inline constexpr std::string_view certificate_role = "the certificate";
inline constexpr std::string_view key_role = "the key";
inline constexpr std::string_view client_authorities_role = "the client authorities";

/// Immutable. TLS 1.3, or 1.2 with ephemeral keys and authenticated encryption; no renegotiation, no compression; of
/// application protocols http/1.1 alone. Threads: any.
class context {
 public:
  /// Reads the files. Errors: invalid_argument, naming file and reason.
  [[nodiscard]] static result<std::shared_ptr<const context>> make(const tls_options& options);

  /// What works but should be looked after, such as an expired certificate; a line each.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// Tells contexts apart that trust others to vouch for clients; empty: clients are not asked.
  [[nodiscard]] const std::string& authorities() const noexcept { return authorities_; }
  /// For `SSL_new`, which takes it so.
  [[nodiscard]] SSL_CTX* native() const noexcept { return native_.get(); }

 private:
  explicit context(SSL_CTX* made) : native_(made) {}
  [[nodiscard]] result<void> set_rules();
  [[nodiscard]] result<void> show(const tls_options& options);
  [[nodiscard]] result<void> ask_clients(const tls_options& options);

  std::unique_ptr<SSL_CTX, crypto::frees<SSL_CTX_free>> native_;
  std::vector<std::string> warnings_;
  std::string authorities_;
};

/// What came of an attempt.
enum class progress : std::uint8_t {
  moved,         ///< Bytes were read or written.
  wants_input,   ///< Nothing goes on until the socket can be read.
  wants_output,  ///< Nothing goes on until it can be written.
  ended,         ///< The peer has said farewell, or has gone.
  failed,        ///< The connection is of no more use.
};

struct attempt {
  progress how = progress::failed;
  std::size_t bytes = 0;
};

/// Drives OpenSSL over a non-blocking socket, and shakes hands when first used. What it has not written yet is written by the
/// next `write`, which must bring the same bytes again. Threads: one at a time.
class session {
 public:
  /// What one record holds.
  static constexpr std::size_t most_in_record = 16u << 10;

  /// `socket` outlives it. Null when there is no memory.
  [[nodiscard]] static std::unique_ptr<session> make(const context& within, int socket);

  /// Reads whole records, so that nothing is left here that waiting for the socket would miss; `into` has room for one.
  [[nodiscard]] attempt read(std::span<char> into);
  /// Writes some of what is in both, of which not both are empty: one record.
  [[nodiscard]] attempt write(std::string_view first, std::string_view then);
  /// Tells the peer that nothing more is written: `wants_output`, or `ended` when it is told or cannot be.
  [[nodiscard]] progress say_farewell();

  [[nodiscard]] bool has_shaken_hands() const noexcept { return SSL_is_init_finished(native_.get()) == 1; }
  /// The peer began with a request in plain HTTP, and has been told nothing.
  [[nodiscard]] bool was_addressed_in_http() const noexcept { return was_addressed_in_http_; }
  /// The peer's certificate, once hands are shaken: it has been verified. Nothing: it has shown none, or was not asked.
  [[nodiscard]] const std::optional<peer_certificate>& certificate();
  /// When the first of the peer's certificate and those that vouch for it ends; nothing where `certificate` has none.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> certificate_end();
  /// Whether the authorities of `now` vouch for that certificate, too. True where there is none.
  [[nodiscard]] bool is_vouched_for_by(const context& now);

 private:
  explicit session(SSL* made) : native_(made) {}
  [[nodiscard]] progress why_not();

  std::unique_ptr<SSL, crypto::frees<SSL_free>> native_;
  std::optional<peer_certificate> certificate_;
  std::chrono::sys_seconds certificate_end_ = std::chrono::sys_seconds::max();
  bool has_looked_ = false;  // for the certificate
  bool has_failed_ = false;
  bool has_said_farewell_ = false;
  bool was_addressed_in_http_ = false;
};

}  // namespace hondana::tls
