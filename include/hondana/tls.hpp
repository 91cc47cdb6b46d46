/// TLS of an HTTP server: its certificate, and the certificates of its clients.
#pragma once

#include <string>

namespace hondana::inline v0 {

/// Paths of PEM files of up to 1 MiB each. They are read at the start and by `http_service::reload_certificates`.
struct tls_options {
  std::string certificate_file{};  ///< The server's certificate, followed by its intermediate certificates. Empty: no TLS.
  std::string key_file{};          ///< Private key of the certificate, without a passphrase. May be the same file.
  /// Authorities that sign client certificates. Clients are then asked for a certificate, and an invalid one is rejected.
  /// Empty: clients are not asked.
  std::string client_ca_file{};
  bool requires_client_certificate = false;  ///< Rejects clients without a certificate. Requires `client_ca_file`.
  friend bool operator==(const tls_options&, const tls_options&) = default;
};

}  // namespace hondana::inline v0
