/// What all TLS connections of a server share: its certificate, its rules, and whom it trusts.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

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

}  // namespace hondana::tls
