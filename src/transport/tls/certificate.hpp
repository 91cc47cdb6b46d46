/// Reads certificates and keys from PEM files, and describes client certificates.
#pragma once

#include <openssl/x509.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>

#include "base/crypto/openssl.hpp"

namespace hondana::tls {

/// Describes a certificate. Alternative names are DNS names, e-mail and IP addresses, and URIs. Leaves out names with blanks,
/// control characters or non-ASCII characters.
[[nodiscard]] peer_certificate describe(X509* certificate);

/// Returns the last second of the certificate's validity; 1970 if it is malformed.
[[nodiscard]] std::chrono::sys_seconds expiry_of(const X509* certificate);

/// The text of a PEM file. The destructor overwrites it in memory, because it may contain a key.
class pem_file {
 public:
  /// Reads a file of at most 1 MiB. `role`: the role of the file in the texts and `failure::subject` of errors, such as "the
  /// key". Errors: invalid_argument, naming file and reason; also if it is not a regular file.
  [[nodiscard]] static result<pem_file> read(std::string_view role, const std::string& path);
  ~pem_file();
  pem_file(pem_file&&) noexcept = default;
  pem_file& operator=(pem_file&&) = delete;

  /// Whether every user of this machine may read the file.
  [[nodiscard]] bool is_world_readable() const noexcept { return is_world_readable_; }
  /// Parses all certificates of the file, in order. Errors: invalid_argument if there is none, or a malformed one.
  [[nodiscard]] result<std::vector<crypto::certificate_pointer>> certificates() const;
  /// Parses the private key of the file. Errors: invalid_argument if there is none, or one that is malformed or has a
  /// passphrase.
  [[nodiscard]] result<crypto::key_pointer> key() const;

  /// Makes a failure with the text "Cannot use the key /etc/x.pem: REASON".
  [[nodiscard]] tl::unexpected<failure> reject(const std::string& reason) const;

 private:
  pem_file(std::string role, std::string path, std::string text, bool is_world_readable);
  [[nodiscard]] crypto::bio_pointer open() const;

  std::string role_;
  std::string path_;
  std::string text_;
  bool is_world_readable_;
};

}  // namespace hondana::tls
