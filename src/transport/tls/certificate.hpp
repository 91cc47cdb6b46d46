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

/// Describes a certificate. Alternative names are DNS names, e-mail and IP addresses, and URIs. Names with control characters
/// are left out.
[[nodiscard]] peer_certificate describe(X509* certificate);

/// The last second of its validity; the epoch if that is malformed.
[[nodiscard]] std::chrono::sys_seconds expiry_of(const X509* certificate);

/// The text of a PEM file. It may contain a key, so the destructor overwrites it.
class pem_file {
 public:
  /// `role`: the role of the file in error messages, such as "the key"; also their `failure::subject`. Errors:
  /// invalid_argument, naming file and reason; also if it is not a regular file, or larger than 1 MiB.
  [[nodiscard]] static result<pem_file> read(std::string_view role, const std::string& path);
  ~pem_file();
  pem_file(pem_file&&) noexcept = default;
  pem_file& operator=(pem_file&&) = delete;

  [[nodiscard]] bool is_world_readable() const noexcept { return is_world_readable_; }
  /// All certificates of the file, in order. Errors: invalid_argument if there is none, or a malformed one.
  [[nodiscard]] result<std::vector<crypto::certificate_pointer>> certificates() const;
  /// The private key of the file. Errors: invalid_argument if there is none, or one with a passphrase.
  [[nodiscard]] result<crypto::key_pointer> key() const;

  /// "Cannot use the key /etc/x.pem: " and `reason`.
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
