/// TLS of an HTTP server: the files it shows itself with, and whether clients show theirs.
#pragma once

#include <string>

namespace hondana::inline v0 {

/// Paths of PEM files. They are read at start and by `http_service::reload_certificates`, up to 1 MiB each.
struct tls_options {
  std::string certificate{};  ///< The server's, followed by those that lead to an authority. Empty: no TLS.
  std::string key{};          ///< Of the certificate, without a passphrase; may be the same file.
  /// Who signs the certificates of clients: these are asked for one, and whoever shows one that does not hold is refused.
  /// Empty: nobody is asked.
  std::string client_authorities{};
  bool needs_client_certificate = false;  ///< Clients that show none are refused, too. Needs `client_authorities`.
  friend bool operator==(const tls_options&, const tls_options&) = default;
};

}  // namespace hondana::inline v0
