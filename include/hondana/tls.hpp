/// TLS of an HTTP server: its certificate, and the certificates of its clients.
#pragma once

#include <optional>
#include <string>

namespace hondana::inline v0 {

/// Paths of PEM files, each at most 1 MiB. They are read by `http_service::start` and `http_service::reload_certificates`.
struct tls_options {
  std::string certificate_file{};  ///< The server's certificate, followed by its intermediate certificates.
  std::string key_file{};          ///< Private key of the certificate, without a passphrase. May be the same file.
  /// Certificates of the authorities that sign client certificates. If set, the server requests a client certificate, and
  /// rejects an invalid one.
  std::optional<std::string> client_ca_file{};
  bool requires_client_certificate = false;  ///< Rejects clients without a certificate. Requires `client_ca_file`.
  friend bool operator==(const tls_options&, const tls_options&) = default;
};

}  // namespace hondana::inline v0
